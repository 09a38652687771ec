/**
 * A short model of the payments contract, written from its description, which shares no code with the contract: what
 * each call does to money and payments.
 */
import { type Address, type Hex, zeroAddress } from 'viem'
import { isNameWord } from '../../support/names.js'
import {
  type BidRequest,
  type EndingCall,
  MAX_AMOUNT,
  OUTCOME,
  type Payment,
  paymentId,
  TOKEN,
} from './payments.js'

/** The logs of a call; the error of one that reverts (and changes nothing). */
export type Outcome = readonly (readonly [string, ...unknown[]])[] | string

export interface Roles {
  owner: Address
  pauser: Address
  relayer: Address
}

const EVENT = { refuse: 'Refused', release: 'Released', reclaim: 'Reclaimed' } as const
const ENDED = {
  refuse: OUTCOME.refused,
  release: OUTCOME.released,
  reclaim: OUTCOME.reclaimed,
} as const

/** @param oddToken a TestToken that misbehaves as configured; the others behave normally */
export function createPaymentsModel(
  contract: Address,
  reclaimS: bigint,
  oddToken: Address,
  roles: Roles,
) {
  const outcomes = new Map<Hex, number>()
  const credits = new Map<string, bigint>()
  const paidOut = new Map<string, bigint>()
  const balances = new Map<Address, bigint>()
  const owed = new Map<Address, bigint>()
  const made: Payment[] = []
  const counts = new Map<Address, bigint>()
  let mode: number = TOKEN.plain
  let blocked: Address = zeroAddress
  let isPaused = false
  let { relayer } = roles

  /** Undoes the changes of the current call. */
  let trail: (() => void)[] | null = null
  function put<K, V>(map: Map<K, V>, key: K, value: V): void {
    const before = map.get(key)
    trail?.push(() => (before === undefined ? map.delete(key) : map.set(key, before)))
    map.set(key, value)
  }

  const keyOf = (account: Address, token: Address) => `${account} ${token}`.toLowerCase()
  const add = <K>(map: Map<K, bigint>, key: K, amount: bigint) =>
    put(map, key, (map.get(key) ?? 0n) + amount)
  const idOf = (payment: Payment) => paymentId(payment, contract)
  const isWellFormed = (name: Hex) => isNameWord(Buffer.from(name.slice(2), 'hex'))

  /** The error with which the odd token refuses any transfer. */
  const refusal = () => {
    if (mode === TOKEN.revert) return 'Error'
    return mode === TOKEN.sayNo ? 'SafeERC20FailedOperation' : null
  }

  /** What the contract loses when it sends an amount, or the token's error. */
  function lossOf(token: Address, to: Address, amount: bigint): bigint | string {
    if (token !== oddToken) return amount
    const error = to === blocked ? 'Error' : refusal()
    if (error) return error
    const has = balances.get(token) ?? 0n
    const fee = amount / 10n
    const loss: Record<number, bigint> = {
      [TOKEN.feeFromReceiver]: amount - fee,
      [TOKEN.feeFromSender]: amount + fee,
      [TOKEN.roundDown]: amount - 1n,
      [TOKEN.lie]: 0n,
      [TOKEN.answerEf]: 0n,
    }
    const lost = loss[mode] ?? amount
    return (mode === TOKEN.answerEf ? amount : lost) <= has ? lost : 'ERC20InsufficientBalance'
  }

  /** What comes in when a payer is asked for an amount. */
  function gainOf(token: Address, amount: bigint): bigint | string {
    if (token !== oddToken || mode === TOKEN.feeFromSender) return amount
    const error = refusal()
    if (error) return error
    if (mode === TOKEN.lie || mode === TOKEN.answerEf) return 0n
    if (mode === TOKEN.roundDown) return amount - 1n
    return mode === TOKEN.feeFromReceiver ? amount - amount / 10n : amount
  }

  function pay(payer: Address, bid: BidRequest, value: bigint, nowS: bigint): Outcome {
    const { token, amount, paymentRecipient, communityName, walletName, referralAddress } = bid
    if (isPaused) return 'EnforcedPause'
    if (!isWellFormed(communityName) || !isWellFormed(walletName)) return 'MalformedName'
    if (paymentRecipient === zeroAddress) return 'ZeroAddress'
    if (amount === 0n) return 'ZeroAmount'
    if (amount > MAX_AMOUNT) return 'AmountTooLarge'
    if (value !== (token === zeroAddress ? amount : 0n)) return 'WrongValue'
    const gain = gainOf(token, amount)
    if (gain !== amount) return typeof gain === 'string' ? gain : 'WrongTransfer'
    const number = (counts.get(token) ?? 0n) + 1n
    const names = { communityName, walletName, referralAddress }
    const reclaimableAt = nowS + reclaimS
    const payment = {
      number,
      reclaimableAt,
      payer,
      recipient: paymentRecipient,
      token,
      amount,
      ...names,
    }
    put(counts, token, number)
    made.push(payment)
    put(outcomes, idOf(payment), OUTCOME.held)
    for (const map of [balances, owed]) add(map, token, amount)
    const from = `0x${'0'.repeat(24)}${payer.slice(2)}`.toLowerCase()
    const terms = [token, amount, paymentRecipient, communityName, walletName, referralAddress]
    return [
      ['Bid', from, 31_337n, ...terms],
      ['Held', idOf(payment), number, reclaimableAt],
    ]
  }

  function end(
    kind: EndingCall,
    payments: readonly Payment[],
    from: Address,
    nowS: bigint,
  ): Outcome {
    const barred = payments.find(
      (payment) => payment.payer !== from || nowS < payment.reclaimableAt,
    )
    if (kind === 'reclaim' && barred) return barred.payer === from ? 'NotReclaimable' : 'NotPayer'
    if (kind !== 'reclaim' && from !== relayer) return 'NotRelayer'
    return payments.flatMap((payment) => {
      if (outcomes.get(idOf(payment)) !== OUTCOME.held) return []
      put(outcomes, idOf(payment), ENDED[kind])
      const side = kind === 'release' ? payment.recipient : payment.payer
      add(credits, keyOf(side, payment.token), payment.amount)
      return [[EVENT[kind], idOf(payment), side, payment.token, payment.amount] as const]
    })
  }

  function withdraw(account: Address, token: Address, to: Address): Outcome {
    const key = keyOf(account, token)
    const credit = credits.get(key) ?? 0n
    if (to === zeroAddress) return 'ZeroAddress'
    if (credit === 0n) return 'NothingOwed'
    const moved = lossOf(token, to, credit)
    if (typeof moved === 'string') return moved
    if (moved === 0n || moved > credit) return 'WrongTransfer'
    put(credits, key, credit - moved)
    for (const map of [balances, owed]) add(map, token, -moved)
    add(paidOut, keyOf(to, token), moved)
    return [['Withdrawn', account, token, to, moved]]
  }

  /** Undoes the changes of a call that reverts in the end. */
  function whole(call: () => Outcome): Outcome {
    trail = []
    const outcome = call()
    if (typeof outcome === 'string') for (const undo of trail.reverse()) undo()
    trail = null
    return outcome
  }

  return {
    made,
    credits,
    paidOut,
    outcomes,
    keyOf,
    idOf,
    pay,
    end,
    withdraw,
    releaseFor: (payments: readonly Payment[], signer: Address, nowS: bigint): Outcome =>
      signer === relayer ? end('release', payments, relayer, nowS) : 'NotSigned',
    endAndWithdraw: (call: () => Outcome, account: Address, token: Address, to: Address): Outcome =>
      whole(() => {
        const logs = call()
        if (typeof logs === 'string') return logs
        const paid = withdraw(account, token, to)
        return typeof paid === 'string' ? paid : [...logs, ...paid]
      }),
    setMode: (next: number) => {
      mode = next
    },
    setBlocked: (account: Address) => {
      blocked = account
    },
    /** What an admin of the odd token takes from the contract. */
    burn(amount: bigint): Outcome {
      if (amount > (balances.get(oddToken) ?? 0n)) return 'ERC20InsufficientBalance'
      add(balances, oddToken, -amount)
      return []
    },
    setRelayer(from: Address, next: Address): Outcome {
      if (from !== roles.owner) return 'OwnableUnauthorizedAccount'
      relayer = next
      return [['RelayerSet', next]]
    },
    pause(from: Address): Outcome {
      if (from !== roles.pauser && from !== roles.owner) return 'NotPauser'
      if (isPaused) return 'EnforcedPause'
      isPaused = true
      return [['Paused', from]]
    },
    unpause(from: Address): Outcome {
      if (from !== roles.owner) return 'OwnableUnauthorizedAccount'
      if (!isPaused) return 'ExpectedPause'
      isPaused = false
      return [['Unpaused', from]]
    },
    relayer: () => relayer,
    money: (token: Address) => ({
      balance: balances.get(token) ?? 0n,
      owed: owed.get(token) ?? 0n,
    }),
  }
}
