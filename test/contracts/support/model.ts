/**
 * The hub in a few lines, written from its description and sharing no code with the contract: what each call does to
 * owners and money, and which logs it writes. Who wins is judged by the rule that the indexer uses.
 */
import { type Address, getAddress, type Hex, sliceHex, zeroAddress, zeroHash } from 'viem'
import { decideBid, REFUSAL } from '../../../src/registry/journal/bid.js'
import { fromHex } from '../../../src/registry/primitives/bytes.js'
import { wordToName } from '../../../src/registry/primitives/name.js'

export interface ModelBid {
  readonly amount: bigint
  readonly name: Hex
}

export type Log = readonly [string, ...unknown[]]

/** The logs of a call that goes through; undefined for one that reverts (and changes nothing). */
export type Outcome = readonly Log[] | undefined

/** The calls that a message may hold, as read from its words; undefined for anything else. */
type HubCall = { bids: readonly ModelBid[]; referral: Hex } | { withdrawTo: Hex }

const SELECTORS = { placeBids: '40bee835', placeBidsWithReferral: 'fdad12fd', withdrawRefund: 'a16c86f7' }
const WORD = 32
const MAX_BIDS = 100

export function createModel(minimumWei: bigint, deliverLimitWei: bigint) {
  const owners = new Map<Hex, Hex>()
  const refunds = new Map<Hex, bigint>()
  const delivered = new Set<Hex>()
  let kept = 0n
  let wonByDeliveries = 0n

  const owed = () => [...refunds.values()].reduce((sum, amount) => sum + amount, 0n)
  const credit = (from: Hex, amount: bigint) => refunds.set(from, (refunds.get(from) ?? 0n) + amount)

  const decide = ({ amount, name }: ModelBid, isOwned = owners.has(name)) =>
    decideBid({ amountWei: amount, name: wordToName(fromHex(name)) }, minimumWei, () => isOwned)

  function decideAll(from: Hex, bids: readonly ModelBid[], referral: Hex) {
    const logs: Log[] = []
    let won = 0n
    for (const bid of bids) {
      logs.push(['Bid', from, bid.amount, bid.name, ...(referral === zeroHash ? [] : [referral])])
      const decision = decide(bid)
      if (decision.outcome === 'refused') {
        logs.push(['BidRefused', from, bid.amount, bid.name, REFUSAL[decision.reason]])
      } else if (decision.outcome === 'won') {
        owners.set(bid.name, from)
        won += bid.amount
      }
    }
    return { logs, won }
  }

  function book(from: Hex, bids: readonly ModelBid[], referral: Hex): Log[] {
    const { logs, won } = decideAll(from, bids, referral)
    kept += won
    credit(from, total(bids) - won)
    return logs
  }

  return {
    owners,
    refunds,
    money: () => ({ balance: kept + owed(), kept, owed: owed() }),

    direct(from: Hex, bids: readonly ModelBid[], referral: Hex, value: bigint): Outcome {
      if (!isBatch(bids) || total(bids) !== value) return undefined
      if (bids.some((bid) => decide(bid).outcome === 'refused')) return undefined
      return book(from, bids, referral)
    },

    deliver(messageId: Hex, from: Hex, bids: readonly ModelBid[], referral: Hex): Outcome {
      if (delivered.has(messageId) || !isBatch(bids)) return undefined
      const before = new Map(owners)
      const { logs, won } = decideAll(from, bids, referral)
      if (wonByDeliveries + won > deliverLimitWei) {
        owners.clear()
        for (const [name, owner] of before) owners.set(name, owner)
        return undefined
      }
      wonByDeliveries += won
      delivered.add(messageId)
      return [...logs, ['Received', messageId, from, BigInt(bids.length)]]
    },

    message(guid: Hex, from: Hex, hubCalldata: Hex, value: bigint): Outcome {
      const call = readCall(hubCalldata)
      if (call && 'bids' in call) {
        if (total(call.bids) !== value) return undefined
        return [...book(from, call.bids, call.referral), ['Received', guid, from, BigInt(call.bids.length)]]
      }
      credit(from, value)
      if (!call)
        return [
          ['MessageRefused', guid, from, value],
          ['Received', guid, from, 0n],
        ]
      const amount = refunds.get(from)!
      if (amount === 0n) return [['Received', guid, from, 0n]]
      if (call.withdrawTo === zeroAddress) {
        return [
          ['PayoutFailed', guid, from, zeroAddress, amount],
          ['Received', guid, from, 0n],
        ]
      }
      refunds.set(from, 0n)
      return [
        ['RefundWithdrawn', from, getAddress(call.withdrawTo), amount],
        ['Received', guid, from, 0n],
      ]
    },

    withdrawRefund(from: Hex, to: Address): Outcome {
      const amount = refunds.get(from) ?? 0n
      if (amount === 0n) return undefined
      refunds.set(from, 0n)
      return [['RefundWithdrawn', from, getAddress(to), amount]]
    },

    withdrawKept(to: Address): Outcome {
      const amount = kept
      kept = 0n
      return [['KeptWithdrawn', getAddress(to), amount]]
    },
  }
}

const total = (bids: readonly ModelBid[]) => bids.reduce((sum, { amount }) => sum + amount, 0n)
const isBatch = (bids: readonly ModelBid[]) => bids.length > 0 && bids.length <= MAX_BIDS && total(bids) < 2n ** 256n

/** Reads hub calldata by the ABI specification, refusing whatever lies outside the data. */
export function readCall(hubCalldata: Hex): HubCall | undefined {
  const data = Buffer.from(hubCalldata.slice(2), 'hex')
  const selector = data.toString('hex', 0, 4)
  const args = data.subarray(4)
  if (selector === SELECTORS.withdrawRefund) {
    const word = wordAt(args, 0n)
    return word === undefined || BigInt(word) >> 160n !== 0n ? undefined : { withdrawTo: sliceHex(word, 12) }
  }
  const withReferral = selector === SELECTORS.placeBidsWithReferral
  if (!withReferral && selector !== SELECTORS.placeBids) return undefined
  const amounts = arrayAt(args, 0n)
  const names = arrayAt(args, 32n)
  const referral = withReferral ? wordAt(args, 64n) : zeroHash
  if (!amounts || !names || !referral || amounts.length !== names.length) return undefined
  const bids = amounts.map((amount, i) => ({ amount: BigInt(amount), name: names[i]! }))
  return isBatch(bids) ? { bids, referral } : undefined
}

function wordAt(data: Buffer, offset: bigint): Hex | undefined {
  if (offset + BigInt(WORD) > data.length) return undefined
  return `0x${data.toString('hex', Number(offset), Number(offset) + WORD)}`
}

function arrayAt(data: Buffer, head: bigint): Hex[] | undefined {
  const offset = wordAt(data, head)
  const length = offset && wordAt(data, BigInt(offset))
  if (!length || BigInt(length) > data.length / WORD) return undefined
  const words = Array.from({ length: Number(length) }, (_, i) => wordAt(data, BigInt(offset) + BigInt(WORD * (i + 1))))
  return words.every((word) => word !== undefined) ? words : undefined
}
