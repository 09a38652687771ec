/**
 * A short model of the hub, written from its description, which shares no code with the contract: what each call does
 * to owners and money, and which logs it emits. The indexer's rule decides who wins.
 */
import {
  concatHex,
  getAddress,
  type Hex,
  keccak256,
  pad,
  sliceHex,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import { BID_REFUSAL, decideBid } from '../../../src/registry/journal/bid.js'
import { fromHex } from '../../../src/registry/primitives/bytes.js'
import { wordToName } from '../../../src/registry/primitives/name.js'

export interface ModelBid {
  readonly amount: bigint
  readonly name: Hex
}

/** A payment on another chain. */
export interface ModelDelivery {
  readonly source: Hex
  readonly sequence: bigint
  readonly from: Hex
  readonly bids: readonly ModelBid[]
  readonly referral: Hex
}

export type Log = readonly [string, ...unknown[]]

/** Logs of a successful call, or the error of one that reverts (and changes nothing). */
export type Outcome = readonly Log[] | string

/** Settings by the owner, and roles. */
export interface Settings {
  readonly owner: Hex
  readonly relayer: Hex
  readonly pauser: Hex
  readonly minimum: bigint
  readonly deliverLimit: bigint
}

/** The calls that a message may hold, as read from its words; undefined for anything else. */
type HubCall = { bids: readonly ModelBid[]; referral: Hex } | { withdrawTo: Hex }

const SELECTORS = {
  placeBids: '40bee835',
  placeBidsWithReferral: 'fdad12fd',
  withdrawRefund: 'a16c86f7',
}
const WORD = 32
const MAX_BIDS = 100
const HIGHEST_MINIMUM = 2n ** 88n - 1n
const HERE = 0

const wordOf = (address: Hex): Hex => pad(address, { size: 32 }).toLowerCase() as Hex
const isSame = (one: Hex, other: Hex) => one.toLowerCase() === other.toLowerCase()

/** How receivers of money behave. */
export interface Receivers {
  /** Take none. */
  readonly deaf: readonly Hex[]
  /** Asks for its credit of direct calls whenever money comes. */
  readonly greedy: Hex
}

export function createModel(start: Settings, { deaf, greedy }: Receivers) {
  const takesMoney = (to: Hex) => !deaf.some((other) => isSame(to, other))
  let settings = start
  let isPaused = false
  let kept = 0n
  let wonByDeliveries = 0n
  const owners = new Map<Hex, Hex>()
  /** By eid and bidder. */
  const credits = new Map<string, bigint>()
  const delivered = new Set<string>()

  const creditOf = (eid: number, from: Hex) => credits.get(`${eid}:${from}`) ?? 0n
  const owed = () => [...credits.values()].reduce((sum, amount) => sum + amount, 0n)

  function credit(eid: number, from: Hex, amount: bigint): Log[] {
    if (amount === 0n) return []
    credits.set(`${eid}:${from}`, creditOf(eid, from) + amount)
    return [['Credited', from, eid, amount]]
  }

  function decide({ amount, name }: ModelBid) {
    const bid = { amountWei: amount, name: wordToName(fromHex(name)), isPaused }
    return decideBid(bid, settings.minimum, () => owners.has(name))
  }

  function decideAll(from: Hex, bids: readonly ModelBid[], referral: Hex) {
    const logs: Log[] = []
    let won = 0n
    for (const bid of bids) {
      logs.push(['Bid', from, bid.amount, bid.name, ...(referral === zeroHash ? [] : [referral])])
      const decision = decide(bid)
      if (decision.outcome === 'refused') {
        logs.push(['BidRefused', from, bid.amount, bid.name, BID_REFUSAL[decision.reason]])
      } else if (decision.outcome === 'won') {
        owners.set(bid.name, from)
        won += bid.amount
      }
    }
    return { logs, won }
  }

  function book(eid: number, from: Hex, bids: readonly ModelBid[], referral: Hex): Log[] {
    const { logs, won } = decideAll(from, bids, referral)
    kept += won
    return [...logs, ...credit(eid, from, total(bids) - won)]
  }

  function payOut(eid: number, from: Hex, to: Hex, amount: bigint): Log {
    credits.delete(`${eid}:${from}`)
    return ['RefundWithdrawn', from, eid, getAddress(to), amount]
  }

  /** Logs of what a receiver calls when money comes. */
  function callBack(to: Hex): readonly Log[] {
    const outcome = isSame(to, greedy) ? withdrawHere(greedy, greedy) : []
    return typeof outcome === 'string' ? [] : outcome
  }

  function refuse(eid: number, guid: Hex, from: Hex, value: bigint): Log[] {
    const isNobody = from === zeroHash
    if (isNobody) kept += value
    const credited = isNobody ? [] : credit(eid, from, value)
    return [['MessageRefused', guid, from, value], ...credited, ['Received', guid, from, 0n]]
  }

  function withdrawHere(account: Hex, to: Hex): Outcome {
    const amount = creditOf(HERE, wordOf(account))
    if (amount === 0n) return 'NothingOwed'
    if (!takesMoney(to)) return 'PaymentFailed'
    return [payOut(HERE, wordOf(account), to, amount), ...callBack(to)]
  }

  const byOwner = (caller: Hex, change: () => Outcome): Outcome =>
    isSame(caller, settings.owner) ? change() : 'OwnableUnauthorizedAccount'

  return {
    owners,
    creditOf,
    isPaused: () => isPaused,
    money: () => ({ balance: kept + owed(), kept, owed: owed() }),

    /** `placeBid`, or `placeBids`. */
    direct(caller: Hex, bids: readonly ModelBid[], referral: Hex, value: bigint): Outcome {
      if (isPaused) return 'EnforcedPause'
      if (!isBatch(bids)) return 'BadBatch'
      if (total(bids) !== value) return 'WrongValue'
      const refused = bids.map(decide).find(({ outcome }) => outcome === 'refused')
      if (refused?.outcome === 'refused')
        return refused.reason === 'malformed_name' ? 'MalformedName' : 'BelowMinimum'
      return book(HERE, wordOf(caller), bids, referral)
    },

    deliver(caller: Hex, deliveries: readonly ModelDelivery[]): Outcome {
      if (isPaused) return 'EnforcedPause'
      if (!isSame(caller, settings.relayer)) return 'NotRelayer'
      const before = {
        owners: new Map(owners),
        delivered: new Set(delivered),
        won: wonByDeliveries,
      }
      const logs: Log[] = []
      for (const { source, sequence, from, bids, referral } of deliveries) {
        const id = keccak256(concatHex([source, toHex(sequence, { size: 8 })]))
        if (delivered.has(id)) continue
        delivered.add(id)
        const batchError = isBatch(bids) ? null : 'BadBatch'
        const form = from === zeroHash ? 'ZeroSender' : batchError
        const decided = form ? { logs: [], won: 0n } : decideAll(from, bids, referral)
        wonByDeliveries += decided.won
        const isOver = decided.won > 0n && wonByDeliveries > settings.deliverLimit
        if (form || isOver) {
          owners.clear()
          for (const [name, owner] of before.owners) owners.set(name, owner)
          delivered.clear()
          for (const known of before.delivered) delivered.add(known)
          wonByDeliveries = before.won
          return form ?? 'DeliverLimitExceeded'
        }
        logs.push(...decided.logs, ['Received', id, from, BigInt(bids.length)])
      }
      return logs
    },

    /** A message of a spoke, given by the endpoint. */
    message(eid: number, guid: Hex, from: Hex, hubCalldata: Hex, value: bigint): Outcome {
      const call = from === zeroHash ? undefined : readCall(hubCalldata)
      if (!call) return refuse(eid, guid, from, value)
      if ('bids' in call) {
        if (total(call.bids) !== value) return 'WrongValue'
        return [
          ...book(eid, from, call.bids, call.referral),
          ['Received', guid, from, BigInt(call.bids.length)],
        ]
      }
      const amount = creditOf(eid, from) + value
      if (amount > 0n && !takesMoney(call.withdrawTo)) return 'PaymentFailed'
      const logs = credit(eid, from, value)
      if (amount > 0n) logs.push(payOut(eid, from, call.withdrawTo, amount))
      return [
        ...logs,
        ['Received', guid, from, 0n],
        ...(amount > 0n ? callBack(call.withdrawTo) : []),
      ]
    },

    withdrawRefund: (caller: Hex, to: Hex): Outcome =>
      to === zeroAddress ? 'ZeroAddress' : withdrawHere(caller, to),

    withdrawRefundFor: (account: Hex): Outcome => withdrawHere(account, account),

    withdrawKept: (caller: Hex, to: Hex): Outcome =>
      byOwner(caller, () => {
        if (to === zeroAddress) return 'ZeroAddress'
        if (!takesMoney(to)) return 'PaymentFailed'
        const amount = kept
        kept = 0n
        return [['KeptWithdrawn', getAddress(to), amount], ...callBack(to)]
      }),

    /** Money that no call brought. */
    force(amount: bigint) {
      kept += amount
    },

    pause(caller: Hex): Outcome {
      if (![settings.owner, settings.pauser].some((role) => isSame(caller, role)))
        return 'NotPauser'
      if (isPaused) return 'EnforcedPause'
      isPaused = true
      return [['Paused', getAddress(caller)]]
    },

    unpause: (caller: Hex): Outcome =>
      byOwner(caller, () => {
        if (!isPaused) return 'ExpectedPause'
        isPaused = false
        return [['Unpaused', getAddress(caller)]]
      }),

    setMinimum: (caller: Hex, minimum: bigint): Outcome =>
      byOwner(caller, () => {
        if (minimum > HIGHEST_MINIMUM) return 'MinimumTooHigh'
        settings = { ...settings, minimum }
        return [['MinimumSet', minimum]]
      }),

    setDeliverLimit: (caller: Hex, deliverLimit: bigint): Outcome =>
      byOwner(caller, () => {
        settings = { ...settings, deliverLimit }
        return [['DeliverLimitSet', deliverLimit]]
      }),

    setRelayer: (caller: Hex, relayer: Hex): Outcome =>
      byOwner(caller, () => {
        settings = { ...settings, relayer }
        return [['RelayerSet', getAddress(relayer)]]
      }),
  }
}

export type Model = ReturnType<typeof createModel>

const total = (bids: readonly ModelBid[]) => bids.reduce((sum, { amount }) => sum + amount, 0n)
const isBatch = (bids: readonly ModelBid[]) =>
  bids.length > 0 && bids.length <= MAX_BIDS && total(bids) < 2n ** 256n

/** Reads hub calldata by the ABI specification, refusing whatever lies outside the data. */
function readCall(hubCalldata: Hex): HubCall | undefined {
  const data = Buffer.from(hubCalldata.slice(2), 'hex')
  const selector = data.toString('hex', 0, 4)
  const args = data.subarray(4)
  if (selector === SELECTORS.withdrawRefund) {
    const word = wordAt(args, 0n)
    const isAddress = word !== undefined && BigInt(word) !== 0n && BigInt(word) >> 160n === 0n
    return isAddress ? { withdrawTo: sliceHex(word, 12) } : undefined
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
  const words = Array.from({ length: Number(length) }, (_, i) =>
    wordAt(data, BigInt(offset) + BigInt(WORD * (i + 1))),
  )
  return words.every((word) => word !== undefined) ? words : undefined
}
