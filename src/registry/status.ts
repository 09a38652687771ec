import type { PaymentJudgement } from './community/payment.js'
import type { Outcome } from './journal/bid.js'

/**
 * The status of a registration transaction is a function of what is known of it, computed here and nowhere else.
 * finalized, lost_bid and invalid never change (within one generation of a network).
 */
export type Status = 'not_found' | 'pending' | 'bridging' | 'invalid' | 'lost_bid' | 'finalized'

/** After this long unseen, a transaction that was in a mempool counts as unknown. */
export const MEMPOOL_MEMORY_MS = 30 * 60_000

export const INVALID_REASONS = [
  'reverted',
  'not_a_registration',
  'replaced',
  'malformed_name',
  'below_minimum',
  /** The hub could not read the message that the transaction sent. */
  'message_refused',
  /** A payment that keeps to no quote of ours: too little was paid, or the quote is forged. Its money is owed back. */
  'quote_mismatch',
] as const
export type InvalidReason = (typeof INVALID_REASONS)[number]

/** A bid of the transaction in the journal. */
export interface JournalledBid {
  logIndex: number
  /** Canonical name, or the raw word in hex when malformed. */
  name: string
  outcome: Outcome
  /** Why it was refused. */
  reason?: InvalidReason
}

/** A bid of the transaction in the unconfirmed tail. */
export interface TailBid {
  logIndex: number
  block: number
  name: string
  /** Whether it would win as the tail stands. */
  leads: boolean
}

export interface Confirmations {
  /** head − block */
  have: number
  need: number
}

/** What the network's chains answer now for a hash of which no log is held. */
export type Seen =
  | { state: 'unknown' }
  | { state: 'mempool' }
  /** `isRegistration`: our contracts logged in it; the indexer has not come to it yet. */
  | { state: 'mined'; succeeded: boolean; isRegistration: boolean; confirmations: Confirmations; isConfirmed: boolean }

/** What is remembered of a transaction that a chain once had (`tracked_txs`). */
export interface Tracked {
  lastSeenMs: number
  /** A confirmed `invalid`, kept so that it outlives the node's memory. */
  verdict: InvalidReason | null
}

/** A message that the transaction sent to the hub from another chain, or a payment that is brought there as one. */
export interface SentPacket {
  /** Its place in the transaction that sent it. */
  logIndex: number
  /** How far the chain it was sent on believes it. */
  source: { isConfirmed: boolean; confirmations: Confirmations }
  /**
   * The names it asks for, in order, canonical or as raw words in hex. Empty when the hub will refuse it as a whole,
   * null when it asks for no name at all (a withdrawal).
   */
  names: readonly string[] | null
  /** A payment that keeps to no quote of ours: it is never brought to the hub. */
  isForeign?: boolean
  hub: PacketOutcome
}

/** What the hub made of a message. */
export type PacketOutcome =
  /** Not there yet. `failure`: why it could not be delivered so far. */
  | { state: 'under_way'; failure: string | null }
  /** Executed, unconfirmed: the bids that are linked to it, none when it was refused. */
  | { state: 'tail'; bids: readonly TailBid[]; confirmations: Confirmations; hubTx: string }
  /** Executed and confirmed: the bids that are linked to it, none when it was refused. */
  | { state: 'journal'; bids: readonly JournalledBid[]; hubTx: string }

/** What becomes of the money of a payment that bought nothing. */
export type Refund =
  /** It is being given back. */
  | 'held'
  /** It is its payer's again, who may fetch it from the payments contract. */
  | 'refused'
  /** It was not given back in time: its recipient has it. */
  | 'too_late'

/** A payment for a community name that the transaction made. */
export interface PaidName {
  /** Its place in the transaction. */
  logIndex: number
  /** `community/name`; a word that is no name is in hex. */
  name: string
  source: { isConfirmed: boolean; confirmations: Confirmations | null }
  /** What the journal made of it, null until it is in there. */
  judgement: PaymentJudgement | null
  /** null where nothing is to be given back, or where it can't be told. */
  refund: Refund | null
}

export interface StatusInput {
  nowMs: number
  /** Its bids on the hub, where it was made on the hub. */
  journal: readonly JournalledBid[]
  tail: readonly TailBid[]
  /** Blocks on top of the tail's first bid, against those asked for. */
  tailConfirmations: Confirmations | null
  /** The messages it sent, where it was made on another chain. */
  packets?: readonly SentPacket[]
  /** The payments for community names that it made, on whatever chain. */
  paidNames?: readonly PaidName[]
  seen: Seen
  tracked: Tracked | null
}

interface NameStatus {
  name: string
  outcome: Outcome | 'leading' | 'behind' | 'pending' | 'bridging'
}

export interface StatusAnswer {
  status: Status
  step?: 'leading' | 'behind' | 'delivery_failed'
  reason?: string
  confirmations?: Confirmations
  names?: NameStatus[]
  /** The hub's transaction that executed the message with the first name. */
  hubTx?: string
  /** Of a payment for a community name that bought nothing. */
  refund?: Refund
}

const OF_OUTCOME: Record<Outcome, Status> = { won: 'finalized', lost: 'lost_bid', refused: 'invalid' }

/**
 * The status of a registration transaction, on the hub or on another chain. The first name decides: the one with the
 * lowest log index, on another chain that of the first message that asks for a name. The hub's confirmed outcome is the
 * answer even while the source is unconfirmed. Of a transaction that did neither, the first payment for a community
 * name decides.
 *
 * An `invalid` that rests on `seen` alone holds only as long as the node remembers: the caller stores it as the
 * verdict.
 */
export function status(input: StatusInput): StatusAnswer {
  const packets = input.packets ?? []
  const first = decidingPacket(packets)
  if (input.journal.length > 0) return journalled(input.journal)
  if (first && isDecided(first)) return bridged(first.hub, packets)
  if (input.tracked?.verdict) return { status: 'invalid', reason: input.tracked.verdict }
  if (input.tail.length > 0) return inTail(input.tail, input.tailConfirmations)
  if (first) return underWay(first, packets)
  if (input.paidNames && input.paidNames.length > 0) return paid(input.paidNames)
  return unlogged(input)
}

/** The first message that asks for a name; else the first that was meant to and will be refused; else the first. */
function decidingPacket(packets: readonly SentPacket[]): SentPacket | null {
  const sorted = byLogIndex(packets)
  const named = sorted.find(({ names }) => names !== null && names.length > 0)
  return named ?? sorted.find(({ names }) => names !== null) ?? sorted[0] ?? null
}

/**
 * Whether the hub's confirmed outcome is known whole. A message that asks for names has one bid a name; while a reader
 * sees fewer (rows on their way, a link that raised an alarm), nothing terminal is answered.
 */
const isDecided = (packet: SentPacket): packet is SentPacket & { hub: Extract<PacketOutcome, { state: 'journal' }> } =>
  packet.hub.state === 'journal' && packet.hub.bids.length === (packet.names?.length ?? 0)

function bridged(hub: Extract<PacketOutcome, { state: 'journal' }>, packets: readonly SentPacket[]): StatusAnswer {
  const names = packetNames(packets)
  const answer: StatusAnswer = hub.bids.length > 0 ? journalled(hub.bids) : unregistered(packets)
  if (names.length > 0) answer.names = names
  return { ...answer, hubTx: hub.hubTx }
}

/** A transaction whose messages are through and registered nothing: refused by the hub, or never meant to. */
const unregistered = (packets: readonly SentPacket[]): StatusAnswer => ({
  status: 'invalid',
  reason: packets.some(({ names }) => names !== null) ? 'message_refused' : 'not_a_registration',
})

function underWay(first: SentPacket, packets: readonly SentPacket[]): StatusAnswer {
  const { source, hub } = first
  // only withdrawals: known from the source alone
  if (first.names === null && source.isConfirmed) return unregistered(packets)
  const names = packetNames(packets)
  if (first.isForeign && source.isConfirmed) return { status: 'invalid', reason: 'quote_mismatch', names }
  const answer: StatusAnswer = { status: source.isConfirmed ? 'bridging' : 'pending' }
  if (names.length > 0) answer.names = names
  if (!source.isConfirmed) answer.confirmations = source.confirmations
  if (hub.state === 'tail') {
    if (hub.bids.length > 0) answer.step = byLogIndex(hub.bids)[0]!.leads ? 'leading' : 'behind'
    if (source.isConfirmed) answer.confirmations = hub.confirmations
    answer.hubTx = hub.hubTx
  } else if (hub.state === 'under_way' && hub.failure !== null && source.isConfirmed) {
    answer.step = 'delivery_failed'
    answer.reason = hub.failure
  }
  return answer
}

/** Every name of every message, in order, with what is known of each. */
function packetNames(packets: readonly SentPacket[]): NameStatus[] {
  return byLogIndex(packets).flatMap((packet): NameStatus[] => {
    const { names, hub, source, isForeign } = packet
    if (isDecided(packet)) return outcomesOf(packet.hub.bids)
    if (hub.state === 'tail' && hub.bids.length > 0) return leadsOf(hub.bids)
    const brought = isForeign ? 'refused' : 'bridging'
    return (names ?? []).map((name) => ({ name, outcome: source.isConfirmed ? brought : 'pending' }))
  })
}

function journalled(bids: readonly JournalledBid[]): StatusAnswer {
  const first = byLogIndex(bids)[0]!
  const answer: StatusAnswer = { status: OF_OUTCOME[first.outcome], names: outcomesOf(bids) }
  if (first.outcome === 'refused' && first.reason) answer.reason = first.reason
  return answer
}

function inTail(bids: readonly TailBid[], confirmations: Confirmations | null): StatusAnswer {
  const step = byLogIndex(bids)[0]!.leads ? 'leading' : 'behind'
  const answer: StatusAnswer = { status: 'pending', step, names: leadsOf(bids) }
  if (confirmations) answer.confirmations = confirmations
  return answer
}

const outcomesOf = (bids: readonly JournalledBid[]): NameStatus[] =>
  byLogIndex(bids).map(({ name, outcome }) => ({ name, outcome }))

const leadsOf = (bids: readonly TailBid[]): NameStatus[] =>
  byLogIndex(bids).map(({ name, leads }) => ({ name, outcome: leads ? 'leading' : 'behind' }))

/** Which of them the journal decides first is no matter: the first in the transaction is its status. */
function paid(payments: readonly PaidName[]): StatusAnswer {
  const { judgement, source, refund } = byLogIndex(payments)[0]!
  const names = byLogIndex(payments).map((payment) => ({ name: payment.name, outcome: outcomeOfPayment(payment) }))
  if (!judgement) {
    const { confirmations } = source
    return { status: 'pending', names, ...(confirmations && { confirmations }) }
  }
  const answer: StatusAnswer = { status: OF_PAYMENT[judgement.outcome], names }
  if (judgement.outcome === 'refused') answer.reason = judgement.reason
  if (refund) answer.refund = refund
  return answer
}

const OF_PAYMENT: Record<PaymentJudgement['outcome'], Status> = {
  registered: 'finalized',
  lost: 'lost_bid',
  refused: 'invalid',
}

const outcomeOfPayment = ({ judgement }: PaidName): Outcome | 'pending' => {
  if (!judgement) return 'pending'
  return judgement.outcome === 'registered' ? 'won' : judgement.outcome
}

function unlogged({ seen, tracked, nowMs }: StatusInput): StatusAnswer {
  switch (seen.state) {
    case 'mempool':
      return { status: 'pending' }
    case 'mined':
      if (seen.isRegistration || !seen.isConfirmed) return { status: 'pending', confirmations: seen.confirmations }
      return { status: 'invalid', reason: seen.succeeded ? 'not_a_registration' : 'reverted' }
    case 'unknown':
      // dropped from a mempool, or reorged out and not yet back: it may still come
      return { status: tracked && nowMs - tracked.lastSeenMs < MEMPOOL_MEMORY_MS ? 'pending' : 'not_found' }
  }
}

const byLogIndex = <T extends { logIndex: number }>(bids: readonly T[]): T[] =>
  [...bids].sort((a, b) => a.logIndex - b.logIndex)

/** Whether a status never changes again. */
export const isTerminal = (value: Status): boolean =>
  value === 'finalized' || value === 'lost_bid' || value === 'invalid'
