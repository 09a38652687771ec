import { findCreditsOfTransaction } from '../../db/bridge/credits.js'
import { findMessagesOfTransaction, type MessageWithProgress } from '../../db/bridge/packets.js'
import { findUnconfirmedTx, type TrackedTx } from '../../db/journal/transactions.js'
import {
  findCommunityPaymentsOfTransaction,
  findPaymentsOfTransaction,
  type PaymentWithProgress,
} from '../../db/payments/ofTransaction.js'
import type { HubCreditChange } from '../../registry/bridge/message.js'
import { decodeAddress } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { nameWordText } from '../../registry/primitives/name.js'
import type {
  CommunityNamePayment,
  Confirmations,
  HubCredit,
  PacketOutcome,
  SentPacket,
} from '../../registry/status.js'
import { type Context, evmChainsOfNetwork } from '../http/context.js'
import { timestampToMillisecond } from '../http/timestamps.js'
import {
  decideTxStatusWithDefaults,
  type TxDetails,
  type TxStatus,
  type TxStatusQuery,
} from './decide.js'

/** Blocks in a response: of the transaction's own chain, and of the hub's transactions that received its messages. */
interface Blocks {
  block: number
  hubBlocks: ReadonlyMap<string, number>
}

const blocksOf = (
  sent: readonly Pick<MessageWithProgress | PaymentWithProgress, 'block' | 'received'>[],
): Blocks => ({
  block: sent[0]!.block,
  hubBlocks: new Map(
    sent.flatMap(({ received }) => (received ? [[toHex(received.txHash), received.block]] : [])),
  ),
})

/** Sum of the payments that are in the first payment's token. */
function paidBy(
  payments: readonly { token: string; amount: bigint }[],
): NonNullable<TxDetails['paid']> {
  const { token } = payments[0]!
  const ofToken = payments.filter((payment) => payment.token === token)
  const amount = ofToken.reduce((sum, payment) => sum + payment.amount, 0n)
  return { token, amount: String(amount) }
}

/** Messages (packets) to the hub as the status function takes them, and their time. */
export type SentPackets = { packets: SentPacket[]; sentMs: number; origin: TxDetails } & Blocks

export function statusOfPackets(
  context: Context,
  sent: SentPackets,
  tracked: TrackedTx | null = null,
): TxStatus {
  const answer = decideTxStatusWithDefaults(context, { packets: sent.packets, tracked })
  const hubBlock = answer.hubTx === undefined ? undefined : sent.hubBlocks.get(answer.hubTx)
  const updatedAt = timestampToMillisecond(sent.sentMs)
  return {
    ...answer,
    ...sent.origin,
    updatedAt,
    block: sent.block,
    ...(hubBlock !== undefined && { hubBlock }),
  }
}

export async function findSentPackets({ context, tx }: TxStatusQuery): Promise<SentPackets | null> {
  const messages = await findMessagesOfTransaction(context.pool, context.network, tx)
  const first = messages[0]
  if (!first) return null
  const packets = await Promise.all(messages.map((message) => packetOf(context, message)))
  const origin = { network: first.label }
  return { packets, sentMs: first.sentMs, origin, ...blocksOf(messages) }
}

async function packetOf(context: Context, message: MessageWithProgress): Promise<SentPacket> {
  const chains = evmChainsOfNetwork(context)
  const source = chains.find(({ chain }) => chain === message.chain)
  return {
    logIndex: message.logIndex,
    source: { isConfirmed: message.isConfirmed, confirmations: message.confirmations },
    names: source ? source.namesOfPacket(message.packet) : [],
    hub: await outcomeOf(context, message),
  }
}

/** Why a payment is refused regardless of the hub's decision; null where it is not. */
function refusalOf(payment: PaymentWithProgress): SentPacket['refusal'] {
  if (payment.isForeign) return 'quote_mismatch'
  return payment.outcome === 'reclaimed' && !payment.received ? 'reclaimed' : null
}

/**
 * Messages to the hub that deliver a transaction's payments; null where the transaction has no payment.
 * @param confirmationsOf called once, for a transaction that is not confirmed yet
 */
export async function findPaymentMessages(
  { context, tx }: TxStatusQuery,
  confirmationsOf: () => Promise<Confirmations>,
): Promise<SentPackets | null> {
  const payments = await findPaymentsOfTransaction(context.pool, context.network, tx)
  const first = payments[0]
  if (!first) return null
  const { isConfirmed } = first
  const confirmations = isConfirmed ? CONFIRMED : await confirmationsOf()
  const packets = await Promise.all(
    payments.map(
      async (payment): Promise<SentPacket> => ({
        logIndex: payment.sequence,
        source: { isConfirmed, confirmations },
        names: [nameWordText(payment.name)],
        refusal: refusalOf(payment),
        refund: payment.outcome ?? 'held',
        hub: await outcomeOf(context, payment),
      }),
    ),
  )
  const origin = { network: first.label, paid: paidBy(payments) }
  return { packets, sentMs: first.paidMs, origin, ...blocksOf(payments) }
}

/** Placeholder: the status function reports no confirmations for a confirmed payment. */
const CONFIRMED: Confirmations = { have: 0, need: 0 }

/** Outcome of a message on the hub. The message's bids are the last `Bid` logs before its `Received` log. */
async function outcomeOf(
  context: Context,
  { received, failure }: Pick<MessageWithProgress | PaymentWithProgress, 'received' | 'failure'>,
): Promise<PacketOutcome> {
  const hub = evmChainsOfNetwork(context)[0]
  if (!received || !hub) return { state: 'under_way', failure }
  const own = <T extends { logIndex: number }>(bids: readonly T[]): T[] => {
    const before = bids.filter(({ logIndex }) => logIndex < received.logIndex)
    return received.bids === 0 ? [] : before.slice(-received.bids)
  }
  const hubTx = toHex(received.txHash)
  if (received.isConfirmed) {
    const [journalled, credits] = await Promise.all([
      context.lookups[context.network].journalled(received.txHash),
      findCreditsOfTransaction(context.pool, context.network, received.txHash),
    ])
    // a message's credit is logged right before its receipt
    const credit = credits.find(({ logIndex }) => logIndex === received.logIndex - 1)
    return {
      state: 'journal',
      bids: own(journalled?.bids ?? []),
      hubTx,
      credit: creditAnswer(credit),
    }
  }
  const tail = await findUnconfirmedTx(context.pool, context.network, hub.chain, received.txHash)
  // bids may move into the journal after `received` was read; the next poll finds them there
  return {
    state: 'tail',
    bids: own(tail?.bids ?? []),
    confirmations: tail?.confirmations ?? { have: 0, need: 0 },
    hubTx,
  }
}

const creditAnswer = (
  credit: Pick<HubCreditChange, 'eid' | 'amountWei' | 'wallet'> | undefined,
): HubCredit | null =>
  credit
    ? {
        eid: credit.eid,
        amountWei: credit.amountWei.toString(),
        owner: decodeAddress(credit.wallet).text,
      }
    : null

export async function creditOfDirectBids({
  context,
  tx,
}: TxStatusQuery): Promise<HubCredit | null> {
  const credits = (await findCreditsOfTransaction(context.pool, context.network, tx)).filter(
    ({ eid }) => eid === 0,
  )
  const amountWei = credits.reduce((sum, credit) => sum + credit.amountWei, 0n)
  return creditAnswer(credits[0] && { ...credits[0], amountWei })
}

export type PaidNames = {
  paidNames: CommunityNamePayment[]
  paidMs: number
  block: number
  origin: TxDetails
}

export function statusOfPaidNames(
  context: Context,
  { paidNames, paidMs, block, origin }: PaidNames,
): TxStatus {
  const answer = decideTxStatusWithDefaults(context, { paidNames })
  return { ...answer, ...origin, block, updatedAt: timestampToMillisecond(paidMs) }
}

export async function paidNamesOf({ context, tx }: TxStatusQuery): Promise<PaidNames | null> {
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
  const origin = { network: first.label, paid: paidBy(payments) }
  return { paidNames, paidMs: first.paidMs, block: first.block, origin }
}
