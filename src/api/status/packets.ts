import {
  findCreditOfDirectBids,
  findCreditsOfReceipts,
  type OwnedCredit,
} from '../../db/bridge/credits.js'
import { findMessagesOfTransaction, type MessageWithProgress } from '../../db/bridge/packets.js'
import {
  findCommunityPaymentsOfTransaction,
  findPaymentsOfTransaction,
  type PaymentWithProgress,
} from '../../db/payments/ofTransaction.js'
import {
  findJournalledBidsOfHubReceipts,
  findUnconfirmedBidsOfReceipts,
} from '../../db/transactions/bids.js'
import type { TrackedTx } from '../../db/transactions/transactions.js'
import { decodeAddress } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { nameWordText } from '../../registry/primitives/name.js'
import {
  type CommunityNamePayment,
  type Confirmations,
  type HubCredit,
  MAX_STATUS_NAMES,
  type PacketOutcome,
  type SentPacket,
  type StatusAnswer,
} from '../../registry/status.js'
import { type Context, evmChainsOfNetwork } from '../http/context.js'
import { timestampToMillisecond } from '../http/timestamps.js'
import {
  decideTxStatusWithDefaults,
  type TxDetails,
  type TxStatus,
  type TxStatusQuery,
} from './decide.js'
import { jobTrouble, type Trouble, undeliveredTrouble } from './trouble.js'

/** Blocks that the response to a transaction's status shows. */
interface TransactionBlocks {
  /** Block or slot of the transaction on its chain. */
  block: number
  /** Block of each transaction on the hub that received one of the messages, by that transaction's hash. */
  hubBlocks: ReadonlyMap<string, number>
}

const blocksOf = (
  sent: readonly Pick<MessageWithProgress | PaymentWithProgress, 'block' | 'received'>[],
): TransactionBlocks => ({
  block: sent[0]!.block,
  hubBlocks: new Map(
    sent.flatMap(({ received }) => (received ? [[toHex(received.txHash), received.block]] : [])),
  ),
})

/** JSON of a sum of payments. The sum counts payments in the token of the first payment only. */
const paidSumJson = ({ token, paid }: { token: string; paid: bigint }): TxDetails['paid'] => ({
  token,
  amount: String(paid),
})

/** A transaction's messages (packets) to the hub, as input of the status function. */
interface ListedPackets {
  /** The first messages, until their names reach `MAX_STATUS_NAMES`. */
  packets: SentPacket[]
  /** Number of names in messages that `packets` leaves out. */
  more: number
}

/** Messages with the time and the blocks of their transaction. */
export type SentPackets = ListedPackets & {
  sentMs: number
  /** Chain of the transaction and, of payments, the paid sum. */
  origin: TxDetails
  /** Trouble of the first message whose delivery or refund has trouble, else null. */
  trouble: Trouble | null
} & TransactionBlocks

export function statusOfPackets(sent: SentPackets, tracked: TrackedTx | null = null): TxStatus {
  const answer = decideTxStatusWithDefaults({
    packets: sent.packets,
    more: sent.more,
    tracked,
  })
  const hubBlock = answer.hubTx === undefined ? undefined : sent.hubBlocks.get(answer.hubTx)
  const updatedAt = timestampToMillisecond(sent.sentMs)
  return {
    ...answer,
    ...sent.origin,
    updatedAt,
    block: sent.block,
    ...(hubBlock !== undefined && { hubBlock }),
    ...troubleField(answer, sent.trouble),
  }
}

/** The trouble for the response. A payer sees it only while a delivery or a refund is due. */
const troubleField = ({ status, refund }: StatusAnswer, trouble: Trouble | null) =>
  trouble && (status === 'bridging' || refund === 'held') ? { trouble } : null

export async function findSentPackets({ context, tx }: TxStatusQuery): Promise<SentPackets | null> {
  const messages = await findMessagesOfTransaction(context.pool, context.network, tx)
  const first = messages[0]
  if (!first) return null
  const chains = evmChainsOfNetwork(context)
  const packets = await withHubOutcomes(
    context,
    messages.map((message) => {
      const source = chains.find(({ chain }) => chain === message.chain)
      return {
        ...message,
        source: { isConfirmed: message.isConfirmed, confirmations: message.confirmations },
        names: source ? source.namesOfPacket(message.packet) : [],
        failure: message.job?.reason ?? null,
      }
    }),
  )
  const origin = { network: first.label }
  const trouble = firstTrouble(messages.map(({ job }) => jobTrouble(job)))
  return { ...packets, sentMs: first.sentMs, origin, trouble, ...blocksOf(messages) }
}

/**
 * Why a payment is never relayed to the hub: it matches no quote of ours, or its payer reclaimed it before the hub
 * received it. Null for any other payment.
 */
function refusalOf(payment: PaymentWithProgress): SentPacket['refusal'] {
  if (payment.isForeign) return 'quote_mismatch'
  return payment.outcome === 'reclaimed' && !payment.received ? 'reclaimed' : null
}

/**
 * Messages to the hub that deliver a transaction's payments; null where the transaction has no payment.
 * @param confirmationsOf reads the confirmations, only of a transaction that is not confirmed yet
 */
export async function findPaymentMessages(
  { context, tx }: TxStatusQuery,
  confirmationsOf: () => Promise<Confirmations>,
): Promise<SentPackets | null> {
  const payments = await findPaymentsOfTransaction(context.pool, context.network, tx)
  const first = payments[0]
  if (!first) return null
  const { isConfirmed } = first
  const confirmations = isConfirmed ? PLACEHOLDER_CONFIRMATIONS : await confirmationsOf()
  const { packets, more } = await withHubOutcomes(
    context,
    payments.map((payment) => ({
      ...payment,
      logIndex: payment.sequence,
      source: { isConfirmed, confirmations },
      names: [nameWordText(payment.name)],
      refusal: refusalOf(payment),
      refund: payment.outcome ?? 'held',
      failure: payment.job?.kind === 'deliver' ? payment.job.reason : null,
    })),
  )
  const trouble = firstTrouble(payments.map((payment) => paymentTrouble(payment, Date.now())))
  const origin = { network: first.label, paid: paidSumJson(first) }
  return {
    packets,
    more: more + first.count - payments.length,
    sentMs: first.paidMs,
    origin,
    trouble,
    ...blocksOf(payments),
  }
}

const firstTrouble = (troubles: readonly (Trouble | null)[]): Trouble | null =>
  troubles.find((trouble) => trouble !== null) ?? null

function paymentTrouble(payment: PaymentWithProgress, nowMs: number): Trouble | null {
  const { job, isConfirmed, isForeign, received, outcome, paidMs } = payment
  if (job) return jobTrouble(job)
  const isDue = isConfirmed && !isForeign && !received && outcome === null
  return isDue ? undeliveredTrouble(paidMs, nowMs) : null
}

/** Placeholder: the status of a confirmed payment does not show confirmations. */
const PLACEHOLDER_CONFIRMATIONS: Confirmations = { have: 0, need: 0 }

/** A message whose outcome on the hub has not been read yet. */
type UndecidedPacket = Omit<SentPacket, 'hub'> &
  Pick<MessageWithProgress | PaymentWithProgress, 'received'> & {
    /** Reason of the last failed delivery, else null. */
    failure: string | null
  }

/** Adds their outcomes on the hub to the first messages, until the names of these messages reach `MAX_STATUS_NAMES`. */
async function withHubOutcomes(
  context: Context,
  sent: readonly UndecidedPacket[],
): Promise<ListedPackets> {
  const listed: UndecidedPacket[] = []
  let count = 0
  let more = 0
  for (const packet of sent) {
    const names = packet.names?.length ?? 0
    if (count >= MAX_STATUS_NAMES) {
      more += names
      continue
    }
    listed.push(packet)
    count += names
  }
  const outcomes = await readHubOutcomes(context, listed)
  const packets = listed.map((packet, i): SentPacket => ({ ...packet, hub: outcomes[i]! }))
  return { packets, more }
}

/** Outcomes of messages on the hub. A message's bids are the last `Bid` logs before its `Received` log. */
async function readHubOutcomes(
  context: Context,
  packets: readonly UndecidedPacket[],
): Promise<PacketOutcome[]> {
  const { pool, network } = context
  const hub = evmChainsOfNetwork(context)[0]
  const outcomes = packets.map(({ failure }): PacketOutcome => ({ state: 'under_way', failure }))
  if (!hub) return outcomes
  const receipts = packets.flatMap(({ received, names }, place) => {
    if (!received) return []
    // reading one more bid than the message has names reveals a receipt that contradicts the message
    return [{ ...received, bids: Math.min(received.bids, (names?.length ?? 0) + 1), place }]
  })
  const confirmed = receipts.filter(({ isConfirmed }) => isConfirmed)
  const unconfirmed = receipts.filter(({ isConfirmed }) => !isConfirmed)
  const [journalled, credits, inTail] = await Promise.all([
    findJournalledBidsOfHubReceipts(pool, network, hub.chain, confirmed),
    findCreditsOfReceipts(pool, network, confirmed),
    // bids may move into the journal after their receipts were read. The next poll finds the bids in the journal
    findUnconfirmedBidsOfReceipts(pool, network, hub.chain, unconfirmed),
  ])
  for (const [i, { place, txHash }] of confirmed.entries())
    outcomes[place] = {
      state: 'journal',
      bids: journalled[i]!,
      hubTx: toHex(txHash),
      credit: creditJson(credits[i]!),
    }
  for (const [i, { place, txHash }] of unconfirmed.entries())
    outcomes[place] = { state: 'tail', ...inTail[i]!, hubTx: toHex(txHash) }
  return outcomes
}

const creditJson = (credit: OwnedCredit | null): HubCredit | null =>
  credit && {
    eid: credit.eid,
    amountWei: credit.amountWei.toString(),
    owner: decodeAddress(credit.wallet).text,
  }

/** Finds the money that the hub owes for a transaction's own bids (not of messages), as the response shows it. */
export const readCreditOfDirectBids = async ({
  context,
  tx,
}: TxStatusQuery): Promise<HubCredit | null> =>
  creditJson(await findCreditOfDirectBids(context.pool, context.network, tx))

export type PaidCommunityNames = {
  paidNames: CommunityNamePayment[]
  /** Number of payments of the transaction that `paidNames` leaves out. */
  more: number
  paidMs: number
  block: number
  origin: TxDetails
  trouble: Trouble | null
}

export function statusOfPaidCommunityNames({
  paidNames,
  more,
  paidMs,
  block,
  origin,
  trouble,
}: PaidCommunityNames): TxStatus {
  const answer = decideTxStatusWithDefaults({ paidNames, more })
  return {
    ...answer,
    ...origin,
    block,
    updatedAt: timestampToMillisecond(paidMs),
    ...troubleField(answer, trouble),
  }
}

export async function findPaidCommunityNames({
  context,
  tx,
}: TxStatusQuery): Promise<PaidCommunityNames | null> {
  const payments = await findCommunityPaymentsOfTransaction(context.pool, context.network, tx)
  const first = payments[0]
  if (!first) return null
  const paidNames = payments.map((payment) => ({
    logIndex: payment.sequence,
    name: `${nameWordText(payment.community)}/${nameWordText(payment.name)}`,
    source: { isConfirmed: payment.isConfirmed, confirmations: payment.confirmations },
    judgement: payment.judgement,
    refund: payment.refund,
    outcome: payment.outcome,
    reclaimableMs: payment.reclaimableMs,
  }))
  const origin = { network: first.label, paid: paidSumJson(first) }
  const more = first.count - payments.length
  const trouble = firstTrouble(payments.map(({ job }) => jobTrouble(job)))
  return { paidNames, more, paidMs: first.paidMs, block: first.block, origin, trouble }
}
