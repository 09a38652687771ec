import type pg from 'pg'
import { NATIVE_COIN } from '../../registry/community/rules.js'
import { BID_OUTCOME } from '../../registry/journal/bid.js'
import { OUTCOME_OFFSET } from '../../registry/journal/effects.js'
import { ENTRY_KIND, type Entry } from '../../registry/journal/entry.js'
import { decodePayment, encodePayment } from '../../registry/journal/payment.js'
import { JOB_KIND, JOB_STATE, PARKED_BELOW_REFUSAL_COST } from '../../registry/outbox.js'
import { PAYMENT_KIND, PAYMENT_STATE, type StoredPayment } from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { partitionName } from '../journal/partitions.js'
import {
  BELONGS_TO_PAYER_SQL,
  IS_JOB_UNSENT_SQL,
  IS_LEFT_TO_PAYER_SQL,
} from '../payments/refused.js'
import { codeListSql } from '../pg/codes.js'
import { type ChainRowKey, execute, query } from '../pg/rows.js'
import { insertJobs, type NewJob } from './jobs.js'

type PaymentKey = Pick<StoredPayment, 'chain' | 'id'>

/**
 * Queues the refusal of payments, each once. A refusal that ended in an earlier generation of the journal, before a
 * rewind, is checked again.
 */
export async function queueRefusals(
  client: pg.ClientBase,
  network: Network,
  payments: readonly PaymentKey[],
  nowMs: number,
): Promise<void> {
  if (payments.length === 0) return
  await insertJobs(client, network, payments.map(refusalJobOf), nowMs)
  await execute(
    client,
    network,
    `UPDATE jobs j SET state = ${REOPENED_JOB_STATE_SQL}, next_ms = 0, version = j.version + 1
     WHERE j.network = $1 AND j.subject = ANY ($2::bytea[]) AND j.kind = ${JOB_KIND.refuse} AND j.state = ${JOB_STATE.confirmed}`,
    [payments.map(({ id }) => id)],
  )
}

/**
 * Parks refusals of payments in a chain's native coin that are worth less than their refusal costs: the payer has to
 * reclaim such a payment. Queues a parked refusal again once its payment is worth the cost. Refusals that were tried,
 * or that an operator resumed, do not change.
 * @param leastWei smallest payment that is worth its refusal, wei
 * @returns how many it changed
 */
export const parkOrResumeCostlyRefusals = (
  client: pg.ClientBase,
  { network, chain }: ChainRowKey,
  leastWei: bigint,
): Promise<number> =>
  execute(
    client,
    network,
    `UPDATE jobs j SET state = CASE WHEN p.amount < $3 THEN ${JOB_STATE.parked} ELSE ${JOB_STATE.queued} END,
       reason = CASE WHEN p.amount < $3 THEN '${PARKED_BELOW_REFUSAL_COST}' END, version = j.version + 1
     FROM payments p
     WHERE j.network = $1 AND j.chain = $2 AND j.kind = ${JOB_KIND.refuse}
       AND j.nonce IS NULL AND j.failures = 0 AND NOT j.alone
       AND p.network = j.network AND p.id = j.subject AND p.token = '${NATIVE_COIN}' AND p.outcome IS NULL
       AND (j.state = ${JOB_STATE.queued} AND j.reason IS NULL AND p.amount < $3
         OR j.state = ${JOB_STATE.parked} AND j.reason = '${PARKED_BELOW_REFUSAL_COST}' AND p.amount >= $3)`,
    [chain, leastWei.toString()],
  )

/**
 * Ends parked refusals and releases whose payment has an outcome, whoever caused the outcome.
 * @returns how many jobs it ended
 */
export function endParkedRefusals(
  client: pg.ClientBase,
  { network, chain }: ChainRowKey,
  nowMs: number,
): Promise<number> {
  const text = `UPDATE jobs j SET state = ${JOB_STATE.confirmed}, reason = NULL, updated_ms = $3, version = j.version + 1
    FROM payments p WHERE j.network = $1 AND j.chain = $2 AND j.state = ${JOB_STATE.parked}
      AND j.kind IN (${codeListSql(JOB_KIND, 'refuse', 'release')}) AND p.network = j.network AND p.id = j.subject AND p.outcome IS NOT NULL`
  return execute(client, network, text, [chain, nowMs])
}

/**
 * State in which an ended job `j` is checked again: `included` where it holds a nonce, so that its receipt is read,
 * otherwise `queued`.
 */
export const REOPENED_JOB_STATE_SQL = `CASE WHEN j.nonce IS NULL THEN ${JOB_STATE.queued} ELSE ${JOB_STATE.included} END`

const refusalJobOf = ({ chain, id }: PaymentKey): NewJob => ({ kind: 'refuse', chain, subject: id })

/**
 * Positions (`chain/block/sequence`) of those payments for community names in these transactions whose money goes, or
 * went, back to the payer. Payments that are not in the journal are left out.
 */
export async function findRefusedPaymentPositions(
  client: pg.ClientBase,
  network: Network,
  txs: readonly Buffer[],
): Promise<Set<string>> {
  if (txs.length === 0) return new Set()
  const rows = await query<{ chain: number; block: number; sequence: number }>(
    client,
    network,
    `SELECT p.chain, p.block, p.sequence FROM payments p
     WHERE p.network = $1 AND p.tx = ANY ($2::bytea[]) AND ${IS_REFUNDED_SQL}`,
    [txs],
  )
  return new Set(rows.map(({ chain, block, sequence }) => `${chain}/${block}/${sequence}`))
}

/**
 * Returns entries as a new generation folds them. A payment that is refunded or being refunded buys nothing there. The
 * field `freed` of a payment is removed, because it is a sequence number of the old generation.
 */
export async function removeRefusedPurchases(
  client: pg.ClientBase,
  network: Network,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const paymentOf = ({ kind, position, body }: Entry) =>
    kind === 'pay_community_name' && position ? decodePayment(body).payment : null
  const txs = entries.flatMap((entry) => paymentOf(entry)?.tx ?? [])
  const refused = await findRefusedPaymentPositions(client, network, txs)
  return entries.map((entry) => {
    const paid = paymentOf(entry)
    if (!paid) return entry
    const { freed, ...payment } = paid
    const { chain, block, logIndex } = entry.position!
    const isRefused = refused.has(`${chain}/${block}/${logIndex}`)
    if (!isRefused && !freed) return entry
    return { ...entry, body: encodePayment(isRefused ? { ...payment, met: null } : payment) }
  })
}

/** True if a payment that is refunded or being refunded buys its name in a generation of the journal. */
export async function hasRefundedPurchase(
  client: pg.ClientBase,
  network: Network,
  generation: number,
): Promise<boolean> {
  const bought = await query(
    client,
    network,
    `SELECT FROM payments p
     ${joinEntryOfPaymentSql(network)}
     WHERE p.network = $1 AND ${IS_REFUNDED_SQL} AND get_byte(e.effects, ${OUTCOME_OFFSET}) = ${BID_OUTCOME.won} LIMIT 1`,
    [generation],
  )
  return bought.length > 0
}

/**
 * SQL condition: the payment `p` is for a community name and in the journal, and its money goes, or went, back to the
 * payer.
 */
const IS_REFUNDED_SQL = `p.kind = ${PAYMENT_KIND.communityName} AND p.state = ${PAYMENT_STATE.done} AND ${BELONGS_TO_PAYER_SQL}`

/** SQL: joins the entry `e` of a payment `p` in the generation `$2`. */
const joinEntryOfPaymentSql = (network: Network): string =>
  `JOIN ${partitionName('journal', network)} e ON e.network = $1 AND e.generation = $2 AND e.chain = p.chain
       AND e.block = p.block AND e.log_index = p.sequence AND e.kind = ${ENTRY_KIND.pay_community_name}`

/**
 * After a rewind, deletes unsent refusals and releases, and queues the refusals of the new generation. The relayer
 * queues its releases once they are due (`queueReleases`). Runs in the transaction that replaces the tables, under the
 * head's lock, so no relayer acts meanwhile.
 * @param generation the new generation
 */
export async function requeueRefusals(
  client: pg.ClientBase,
  network: Network,
  generation: number,
  nowMs: number,
): Promise<void> {
  // Keeps the jobs of a payments contract that was replaced: the relayer serves it no longer, and the payer has to
  // reclaim.
  const unsent = `DELETE FROM jobs j WHERE j.network = $1 AND j.kind IN (${codeListSql(JOB_KIND, 'refuse', 'release')}) AND ${IS_JOB_UNSENT_SQL} AND j.release IS NULL
    AND ${IS_LEFT_TO_PAYER_SQL} IS NOT TRUE`
  await execute(client, network, unsent)
  const refused = await query<PaymentKey>(
    client,
    network,
    `SELECT p.chain, p.id FROM payments p
     ${joinEntryOfPaymentSql(network)}
     WHERE p.network = $1 AND p.kind = ${PAYMENT_KIND.communityName} AND p.state = ${PAYMENT_STATE.done}
       AND get_byte(e.effects, ${OUTCOME_OFFSET}) <> ${BID_OUTCOME.won} ORDER BY e.seq`,
    [generation],
  )
  await insertJobs(client, network, refused.map(refusalJobOf), nowMs)
}
