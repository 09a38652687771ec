/**
 * The payments contract in a few lines, written from its description and sharing no code with it: what each call does
 * to money and names. A call that would revert gives undefined and changes nothing.
 */
import { type Address, type Hex, zeroAddress } from 'viem'
import { wordToName } from '../../../src/registry/primitives/name.js'
import { type BidRequest, TOKEN } from './payments.js'

interface Payment {
  payer: Address
  recipient: Address
  token: Address
  amount: bigint
  heldUntil: bigint
  nameKey: string
}

/** The logs of a call, without those of roles. */
type Outcome = readonly (readonly [string, ...unknown[]])[] | undefined

export function createPaymentsModel(holdS: bigint, oddToken: Address) {
  const held = new Map<Hex, Payment>()
  const taken = new Map<string, { id: Hex; heldUntil: bigint }>()
  const credits = new Map<string, bigint>()
  const paidOut = new Map<string, bigint>()
  let mode: number = TOKEN.plain

  const keyOf = (account: Address, token: Address) => `${account} ${token}`.toLowerCase()
  const add = (map: Map<string, bigint>, key: string, amount: bigint) => map.set(key, (map.get(key) ?? 0n) + amount)
  const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const isWellFormed = (name: Hex) => wordToName(Buffer.from(name.slice(2), 'hex')) !== null

  /** Whether a transfer of the odd token moves just its amount, seen from the contract. */
  function movesExactly(token: Address, amount: bigint, direction: 'in' | 'out'): boolean {
    if (token !== oddToken || mode === TOKEN.plain || mode === TOKEN.sayNothing) return true
    const hasFee = amount / 10n > 0n
    if (mode === TOKEN.feeFromReceiver) return !hasFee
    if (mode === TOKEN.feeFromSender) return direction === 'in' || !hasFee
    return false
  }

  function releaseAll(ids: readonly Hex[], nowS: bigint): Outcome {
    const payments = ids.map((id) => held.get(id))
    if (new Set(ids).size < ids.length) return undefined
    if (payments.some((payment) => !payment || nowS < payment.heldUntil)) return undefined
    return ids.map((id, i) => {
      const { recipient, token, amount } = payments[i]!
      held.delete(id)
      add(credits, keyOf(recipient, token), amount)
      return ['Released', id, recipient, token, amount] as const
    })
  }

  return {
    held,
    credits,
    paidOut,
    keyOf,
    setMode: (next: number) => {
      mode = next
    },

    /** @returns whether it goes through; the id is the contract's to give, see `enter` */
    mayPay(bid: BidRequest, value: bigint): boolean {
      if (!isWellFormed(bid.communityName) || !isWellFormed(bid.walletName)) return false
      if (bid.amount === 0n || bid.paymentRecipient === zeroAddress) return false
      if (value !== (bid.token === zeroAddress ? bid.amount : 0n)) return false
      return !taken.has(bid.communityName + bid.walletName) && movesExactly(bid.token, bid.amount, 'in')
    },

    enter(id: Hex, payer: Address, bid: BidRequest, nowS: bigint) {
      const nameKey = bid.communityName + bid.walletName
      const { token, amount, paymentRecipient: recipient } = bid
      held.set(id, { payer, recipient, token, amount, heldUntil: nowS + holdS, nameKey })
      taken.set(nameKey, { id, heldUntil: nowS + holdS })
    },

    refuse(id: Hex, isRelayer: boolean, nowS: bigint): Outcome {
      const payment = held.get(id)
      if (!isRelayer || !payment || nowS >= payment.heldUntil) return undefined
      held.delete(id)
      taken.delete(payment.nameKey)
      add(credits, keyOf(payment.payer, payment.token), payment.amount)
      return [['Refused', id, payment.payer, payment.token, payment.amount]]
    },

    release: releaseAll,

    withdraw(account: Address, token: Address, to: Address): Outcome {
      const key = keyOf(account, token)
      const amount = credits.get(key) ?? 0n
      if (amount === 0n || !movesExactly(token, amount, 'out')) return undefined
      credits.set(key, 0n)
      add(paidOut, keyOf(to, token), amount)
      return [['Withdrawn', account, token, to, amount]]
    },

    reopen(communityName: Hex, walletName: Hex, nowS: bigint): Outcome {
      const entry = taken.get(communityName + walletName)
      if (!entry || (held.has(entry.id) && nowS < entry.heldUntil)) return undefined
      taken.delete(communityName + walletName)
      return [['Reopened', communityName, walletName, entry.id]]
    },

    money: (token: Address) => ({
      held: sum([...held.values()].filter((payment) => payment.token === token).map(({ amount }) => amount)),
      credited: sum([...credits].filter(([key]) => key.endsWith(token.toLowerCase())).map(([, amount]) => amount)),
    }),
  }
}
