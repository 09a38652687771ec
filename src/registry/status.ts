import type { CommunityPaymentDecision } from './community/payment.js'
import type { InvalidReason } from './invalidReasons.js'
import type { BidOutcome } from './journal/bid.js'

/**
 * Status of a registration transaction. finalized, lost_bid and invalid never change, unless an operator begins a new
 * generation of the journal by `journal rewind` or `journal restored`. An `invalid` that rests on a stored verdict
 * ends once bids or payments of the transaction are confirmed: one lying node may have caused the verdict.
 */
export type RegistrationStatus =
  | 'not_found'
  | 'pending'
  | 'bridging'
  | 'invalid'
  | 'lost_bid'
  | 'finalized'

/** Time after which a mempool transaction that no node has any more counts as unknown, ms. */
export const DROPPED_TX_GRACE_MS = 30 * 60_000

/** Maximum number of names in a status. A contract can bid for thousands of names in one transaction. */
export const MAX_STATUS_NAMES = 100

/** Confirmed bid of the transaction. */
export interface JournalledBid {
  logIndex: number
  /** Canonical name; the raw bytes32 in hex where it is not a valid name. */
  name: string
  outcome: BidOutcome
  /** Why the bid is invalid. Set only with outcome `refused`; a lost bid has `winner`. */
  reason?: InvalidReason
  /** The bid that won the name, where this bid lost. */
  winner?: WinningBid
}

/** The bid that won a name: its amount, and its transaction on the hub. */
interface WinningBid {
  amountWei: string
  tx: string
}

/** Reason of a lost bid or payment: an earlier valid bid or payment won the name. */
const NAME_TAKEN = 'name_taken'

/** Bid of the transaction in an unconfirmed block. */
export interface UnconfirmedBid {
  logIndex: number
  block: number
  name: string
  /** True for a bid that wins if the unconfirmed blocks are confirmed unchanged. */
  leads: boolean
}

export interface Confirmations {
  /** Number of blocks on top of the transaction's block: head − block. */
  have: number
  /** Number of such blocks at which the chain counts the block as confirmed. */
  need: number
}

/** State that the chains of a network currently report for a transaction without a stored log. */
export type ChainTxState =
  | { state: 'unknown' }
  | { state: 'mempool' }
  /** `isRegistration`: in the transaction, our contracts emitted logs that the indexer has not read yet. */
  | {
      state: 'mined'
      succeeded: boolean
      isRegistration: boolean
      confirmations: Confirmations
      isConfirmed: boolean
    }

/** Stored state of a transaction that a node has returned before. */
export interface TrackedTxState {
  lastSeenMs: number
  /** Confirmed reason why the transaction is `invalid`, stored because nodes forget transactions. */
  verdict: InvalidReason | null
}

/** Message from another chain to the hub, or a payment that the relayer delivers like a message. */
export interface SentPacket {
  /** Position within the source transaction. */
  logIndex: number
  source: { isConfirmed: boolean; confirmations: Confirmations }
  /** Names in order, a malformed one in hex; empty for a message that the hub will refuse, null for a withdrawal. */
  names: readonly string[] | null
  /** Reason why a payment is never relayed: the payment matches no quote of ours, or its payer took it back. */
  refusal?: 'quote_mismatch' | 'reclaimed' | null
  /** Where a payment's money is; absent for a message. */
  refund?: PaymentMoneyState
  hub: PacketOutcome
}

/** State of a message on the hub. */
export type PacketOutcome =
  /** The message is not delivered yet. `failure`: reason of the last failed attempt to deliver it. */
  | { state: 'under_way'; failure: string | null }
  /** The message was executed in an unconfirmed block. `bids` is empty if the hub refused the message. */
  | { state: 'tail'; bids: readonly UnconfirmedBid[]; confirmations: Confirmations; hubTx: string }
  /**
   * The message was executed in a confirmed block. `bids` is empty if the hub refused the message. `credit`: the
   * hub's debt for bids that won nothing.
   */
  | { state: 'journal'; bids: readonly JournalledBid[]; hubTx: string; credit?: HubCredit | null }

/**
 * Credit of the hub for bids that won nothing. `eid`: LayerZero id of the chain that the money came from, 0 for the
 * hub's own.
 */
export interface HubCredit {
  eid: number
  amountWei: string
  /** Address that may withdraw the credit. */
  owner: string
}

/** Where the money of a payment is. */
export type PaymentMoneyState =
  /** Neither the payer nor the recipient has the money yet. */
  | 'held'
  /**
   * Returned to the payer: on EVM chains as a credit in the payments contract, on Solana paid out, or to be collected.
   */
  | 'refused'
  /** The payment is worth less than its refusal costs, so its payer has to reclaim it. */
  | 'reclaim'
  /** The payer took the money back. */
  | 'reclaimed'
  /** The recipient has the money. */
  | 'released'

/** Where the money of a payment ends up. */
type FinalMoneyState = Exclude<PaymentMoneyState, 'held' | 'reclaim'>

/** Payment for a community name within the transaction. */
export interface CommunityNamePayment {
  /** Position within the transaction. */
  logIndex: number
  /** `community/name`, with malformed words in hex. */
  name: string
  source: { isConfirmed: boolean; confirmations: Confirmations | null }
  /** Outcome of the payment in the journal, null before it is decided. */
  judgement: CommunityPaymentDecision | null
  /** Where the money is that has to go back. Null for a payment that bought its name, or is undecided. */
  refund: PaymentMoneyState | null
  /** Where the chain shows that the money went; null while the payment is held. */
  outcome: FinalMoneyState | null
  /** Time from which on the payer may reclaim the payment, ms. */
  reclaimableMs: number
}

export interface TxStatusInput {
  nowMs: number
  /** Confirmed bids of a transaction on the hub. */
  journal: readonly JournalledBid[]
  /** The hub's debt for these bids. */
  credit?: HubCredit | null
  /** Unconfirmed bids of a transaction on the hub. */
  tail: readonly UnconfirmedBid[]
  /** Confirmations of the first bid in `tail`. */
  tailConfirmations: Confirmations | null
  /** Messages of a transaction on another chain. */
  packets?: readonly SentPacket[]
  /** Payments for community names, on any chain. */
  paidNames?: readonly CommunityNamePayment[]
  /** Number of the transaction's further names, which the lists above leave out. */
  more?: number
  seen: ChainTxState
  tracked: TrackedTxState | null
}

interface NameStatus {
  name: string
  outcome: BidOutcome | 'leading' | 'behind' | 'pending' | 'bridging'
  winner?: WinningBid
}

export interface StatusAnswer {
  status: RegistrationStatus
  step?: 'leading' | 'behind' | 'delivery_failed'
  reason?: string
  confirmations?: Confirmations
  /** The first `MAX_STATUS_NAMES` names, in log order. */
  names?: NameStatus[]
  /** Number of further names; absent for none. */
  more?: number
  /** Hub transaction that executed the message which decides the status (`decidingPacket`). */
  hubTx?: string
  /** Where the money of a payment is that did not buy its name. */
  refund?: PaymentMoneyState
  /**
   * Set where the hub owes money for bids that won nothing. The owner withdraws the money on the hub, or by a message
   * from another chain.
   */
  credit?: HubCredit
  /** Time from which on the payer may reclaim a held payment, ISO 8601. */
  reclaimAfter?: string
  /** Where the money of a payment for a community name is that bought the name; absent for other payments. */
  payout?: 'held' | FinalMoneyState
}

const STATUS_BY_OUTCOME: Record<BidOutcome, RegistrationStatus> = {
  won: 'finalized',
  lost: 'lost_bid',
  refused: 'invalid',
}

/**
 * Status of a transaction. Its first name decides: the bid with the lowest log index, or the first message that asks
 * for a name. Confirmed bids and decided messages come before a stored verdict, and the verdict before other evidence.
 * A confirmed outcome on the hub counts even while the source transaction is unconfirmed. A transaction without bids
 * and messages is decided by its first payment for a community name.
 *
 * An `invalid` derived only from `seen` lasts while the node remembers the transaction, so the caller stores its reason
 * as the verdict.
 */
export function decideTxStatus(input: TxStatusInput): StatusAnswer {
  const answer = statusWithAllNames(input)
  if (!answer.names) return answer
  const names = answer.names.slice(0, MAX_STATUS_NAMES)
  const more = answer.names.length - names.length + (input.more ?? 0)
  return more === 0 ? answer : { ...answer, names, more }
}

function statusWithAllNames(input: TxStatusInput): StatusAnswer {
  const packets = input.packets ?? []
  const first = decidingPacket(packets)
  if (input.journal.length > 0) return statusOfBids(input.journal, input.credit)
  if (first && isDecided(first)) return statusOfDecidedPacket(first, packets)
  if (input.tracked?.verdict) return { status: 'invalid', reason: input.tracked.verdict }
  if (input.tail.length > 0) return statusOfUnconfirmedBids(input.tail, input.tailConfirmations)
  if (first) return statusOfPendingPacket(first, packets)
  if (input.paidNames && input.paidNames.length > 0) return statusOfPayments(input.paidNames)
  return statusWithoutLogs(input)
}

/** The first message that asks for a name, else the first message that will be refused, else the first message. */
function decidingPacket(packets: readonly SentPacket[]): SentPacket | null {
  const sorted = sortedByLogIndex(packets)
  const named = sorted.find(({ names }) => names !== null && names.length > 0)
  return named ?? sorted.find(({ names }) => names !== null) ?? sorted[0] ?? null
}

type DecidedPacket = SentPacket & { hub: Extract<PacketOutcome, { state: 'journal' }> }

/** True if a message was executed in a confirmed block, and all its bids are in the journal. */
const isDecided = (packet: SentPacket): packet is DecidedPacket =>
  packet.hub.state === 'journal' && packet.hub.bids.length === (packet.names?.length ?? 0)

function statusOfDecidedPacket(
  { hub, refund }: DecidedPacket,
  packets: readonly SentPacket[],
): StatusAnswer {
  const names = nameStatusesOfPackets(packets)
  const { hubTx, credit } = hub
  const answer: StatusAnswer =
    hub.bids.length > 0 ? statusOfBids(hub.bids) : statusWithoutRegistration(packets)
  if (names.length > 0) answer.names = names
  if (refund && answer.status !== 'finalized') answer.refund = refund
  return { ...answer, ...(credit && { credit }), hubTx }
}

/** Status of delivered messages that registered nothing. */
const statusWithoutRegistration = (packets: readonly SentPacket[]): StatusAnswer => ({
  status: 'invalid',
  reason: packets.some(({ names }) => names !== null) ? 'message_refused' : 'not_a_registration',
})

function statusOfPendingPacket(first: SentPacket, packets: readonly SentPacket[]): StatusAnswer {
  const { source, hub, refusal, refund } = first
  // a withdrawal (`names` is null) registers nothing, whatever the hub reports
  if (first.names === null && source.isConfirmed) return statusWithoutRegistration(packets)
  const names = nameStatusesOfPackets(packets)
  if (refusal && source.isConfirmed)
    return { status: 'invalid', reason: refusal, names, ...(refund && { refund }) }
  const answer: StatusAnswer = { status: source.isConfirmed ? 'bridging' : 'pending' }
  if (names.length > 0) answer.names = names
  if (!source.isConfirmed) answer.confirmations = source.confirmations
  if (hub.state === 'tail') {
    if (hub.bids.length > 0) answer.step = nameStatusesOfUnconfirmedBids(hub.bids)[0]!.outcome
    if (source.isConfirmed) answer.confirmations = hub.confirmations
    answer.hubTx = hub.hubTx
  } else if (hub.state === 'under_way' && hub.failure !== null && source.isConfirmed) {
    answer.step = 'delivery_failed'
    answer.reason = hub.failure
  }
  return answer
}

/** Names of all messages, in order, each with its outcome so far. */
function nameStatusesOfPackets(packets: readonly SentPacket[]): NameStatus[] {
  return sortedByLogIndex(packets).flatMap((packet): NameStatus[] => {
    const { names, hub, source, refusal } = packet
    if (isDecided(packet)) return nameStatusesOfBids(packet.hub.bids)
    if (hub.state === 'tail' && hub.bids.length > 0) return nameStatusesOfUnconfirmedBids(hub.bids)
    const confirmedOutcome = refusal ? 'refused' : 'bridging'
    return (names ?? []).map((name) => ({
      name,
      outcome: source.isConfirmed ? confirmedOutcome : 'pending',
    }))
  })
}

function statusOfBids(bids: readonly JournalledBid[], credit?: HubCredit | null): StatusAnswer {
  const first = sortedByLogIndex(bids)[0]!
  const reason = first.outcome === 'lost' ? NAME_TAKEN : first.reason
  const names = nameStatusesOfBids(bids)
  return {
    status: STATUS_BY_OUTCOME[first.outcome],
    names,
    ...(reason && { reason }),
    ...(credit && { credit }),
  }
}

function statusOfUnconfirmedBids(
  bids: readonly UnconfirmedBid[],
  confirmations: Confirmations | null,
): StatusAnswer {
  const names = nameStatusesOfUnconfirmedBids(bids)
  return {
    status: 'pending',
    step: names[0]!.outcome,
    names,
    ...(confirmations && { confirmations }),
  }
}

const nameStatusesOfBids = (bids: readonly JournalledBid[]): NameStatus[] =>
  sortedByLogIndex(bids).map(({ name, outcome, winner }) => ({
    name,
    outcome,
    ...(winner && { winner }),
  }))

const nameStatusesOfUnconfirmedBids = (bids: readonly UnconfirmedBid[]) =>
  sortedByLogIndex(bids).map(({ name, leads }) => ({
    name,
    outcome: leads ? ('leading' as const) : ('behind' as const),
  }))

/** Status by the payment with the lowest log index, whichever was decided first. */
function statusOfPayments(payments: readonly CommunityNamePayment[]): StatusAnswer {
  const ordered = sortedByLogIndex(payments)
  const { judgement, source, refund, outcome, reclaimableMs } = ordered[0]!
  const names = ordered.map((payment): NameStatus => {
    return {
      name: payment.name,
      outcome: payment.judgement ? bidOutcomeOf(payment.judgement) : 'pending',
    }
  })
  const { confirmations } = source
  if (!judgement) return { status: 'pending', names, ...(confirmations && { confirmations }) }
  const answer: StatusAnswer = { status: STATUS_BY_OUTCOME[bidOutcomeOf(judgement)], names }
  if (judgement.outcome === 'refused') answer.reason = judgement.reason
  if (judgement.outcome === 'lost') answer.reason = NAME_TAKEN
  if (refund) answer.refund = refund
  if (judgement.outcome === 'registered') answer.payout = outcome ?? 'held'
  if (outcome === null && refund) answer.reclaimAfter = new Date(reclaimableMs).toISOString()
  return answer
}

const bidOutcomeOf = ({ outcome }: CommunityPaymentDecision): BidOutcome =>
  outcome === 'registered' ? 'won' : outcome

function statusWithoutLogs({ seen, tracked, nowMs }: TxStatusInput): StatusAnswer {
  switch (seen.state) {
    case 'mempool':
      return { status: 'pending' }
    case 'mined':
      if (seen.isRegistration || !seen.isConfirmed)
        return { status: 'pending', confirmations: seen.confirmations }
      return { status: 'invalid', reason: seen.succeeded ? 'not_a_registration' : 'reverted' }
    case 'unknown':
      // a transaction that nodes dropped from the mempool may return for some time
      return {
        status:
          tracked && nowMs - tracked.lastSeenMs < DROPPED_TX_GRACE_MS ? 'pending' : 'not_found',
      }
  }
}

const sortedByLogIndex = <T extends { logIndex: number }>(bids: readonly T[]): T[] =>
  [...bids].sort((a, b) => a.logIndex - b.logIndex)

/** True for a status that never changes again, but for the cases at `RegistrationStatus`. */
export const isTerminalStatus = (value: RegistrationStatus): boolean =>
  value === 'finalized' || value === 'lost_bid' || value === 'invalid'
