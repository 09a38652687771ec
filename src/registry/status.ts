import type { Outcome } from './bid.js'

/**
 * The status of a registration transaction is a function of what is known of it, computed here and nowhere else.
 * finalized, lost_bid and invalid never change (within one generation of a network).
 */
export type Status = 'not_found' | 'pending' | 'bridging' | 'invalid' | 'lost_bid' | 'finalized'

/** After this long unseen, a transaction that was in a mempool counts as unknown. */
export const MEMPOOL_MEMORY_MS = 30 * 60_000

export type InvalidReason = 'reverted' | 'not_a_registration' | 'replaced' | 'malformed_name' | 'below_minimum'

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

export interface StatusInput {
  nowMs: number
  journal: readonly JournalledBid[]
  tail: readonly TailBid[]
  /** Blocks on top of the tail's first bid, against those asked for. */
  tailConfirmations: Confirmations | null
  seen: Seen
  tracked: Tracked | null
}

export interface NameStatus {
  name: string
  outcome: Outcome | 'leading' | 'behind'
}

export interface StatusAnswer {
  status: Status
  step?: 'leading' | 'behind' | 'delivery_failed'
  reason?: string
  confirmations?: Confirmations
  names?: NameStatus[]
}

const OF_OUTCOME: Record<Outcome, Status> = { won: 'finalized', lost: 'lost_bid', refused: 'invalid' }

/** The status of a hub transaction. The first name is the one with the lowest log index. */
export function status(input: StatusInput): StatusAnswer {
  if (input.journal.length > 0) return journalled(input.journal)
  if (input.tracked?.verdict) return { status: 'invalid', reason: input.tracked.verdict }
  if (input.tail.length > 0) return inTail(input.tail, input.tailConfirmations)
  return unlogged(input)
}

function journalled(bids: readonly JournalledBid[]): StatusAnswer {
  const sorted = byLogIndex(bids)
  const first = sorted[0]!
  const names = sorted.map(({ name, outcome }) => ({ name, outcome }))
  const answer: StatusAnswer = { status: OF_OUTCOME[first.outcome], names }
  if (first.outcome === 'refused' && first.reason) answer.reason = first.reason
  return answer
}

function inTail(bids: readonly TailBid[], confirmations: Confirmations | null): StatusAnswer {
  const sorted = byLogIndex(bids)
  const names = sorted.map(({ name, leads }) => ({ name, outcome: leads ? ('leading' as const) : ('behind' as const) }))
  const answer: StatusAnswer = { status: 'pending', step: names[0]!.outcome, names }
  if (confirmations) answer.confirmations = confirmations
  return answer
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
