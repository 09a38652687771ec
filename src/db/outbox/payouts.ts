import type pg from 'pg'
import { PAYMENT_TIME_USED_ALARM_SHARE } from '../../ops/alarms.js'
import { BID_OUTCOME } from '../../registry/journal/bid.js'
import { OUTCOME_OFFSET } from '../../registry/journal/effects.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { JOB_KIND, JOB_STATE } from '../../registry/outbox.js'
import {
  PAYMENT_KIND,
  PAYMENT_OUTCOME,
  PAYMENT_STATE,
  QUOTE_VERDICT,
} from '../../registry/payment/payment.js'
import { codeListSql } from '../pg/codes.js'
import { type ChainRowKey, execute, prepared, type Queryable, query } from '../pg/rows.js'

const { settle, refund, refuse, release } = JOB_KIND

/**
 * SQL condition on a job `j` with a deadline. After the deadline, the payer can reclaim the money and keep the name.
 */
const HAS_DEADLINE_SQL = `j.kind IN (${codeListSql(JOB_KIND, 'settle', 'release')})`

/**
 * SQL: the fraction of its holding time that has passed for the payment of a settlement or release `j`. From 1 on, the
 * payer can reclaim the payment. Null for other jobs, and for a payment that is not held.
 * @param nowMs expression or placeholder
 */
export const usedHoldingTimeFractionSql = (nowMs: string): string => `(
  SELECT (${nowMs}::int8 - p.paid_ms)::float8 / greatest(1, p.reclaimable_ms - p.paid_ms) FROM payments p
  WHERE ${HAS_DEADLINE_SQL} AND p.network = j.network AND p.id = j.subject AND p.outcome IS NULL)`

/** SQL: true for a settlement or release `j` that is near its deadline. Such a job comes before other waiting jobs. */
export const isPaymentDeadlineNearSql = (nowMs: string): string =>
  `coalesce(${usedHoldingTimeFractionSql(nowMs)} >= ${PAYMENT_TIME_USED_ALARM_SHARE}, false)`

/**
 * SQL: outcome, by the hub's confirmed logs, of the bid of a payment `p` for a name on the hub. Null while it is
 * unknown. The bid is the last `Bid` log of its transaction before the hub's `Received` log.
 */
const HUB_OUTCOME_SQL = `(
  SELECT n.outcome FROM received r
  JOIN journal_heads h ON h.network = r.network
  JOIN names n ON n.network = r.network AND n.tx_key = ('x' || encode(substr(r.tx_hash, 1, 8), 'hex'))::bit(64)::int8
  JOIN journal e ON e.network = n.network AND e.generation = h.generation AND e.seq = n.seq
  WHERE r.network = p.network AND r.guid = p.id AND r.confirmed
    AND e.block = r.block AND e.log_index < r.log_index AND substr(e.body, 1, 32) = r.tx_hash
  ORDER BY e.log_index DESC LIMIT 1)`

/** SQL: true where the journal shows that a payment `p` for a community name bought its name. */
const HAS_BOUGHT_NAME_SQL = `EXISTS (
  SELECT FROM journal_heads h JOIN journal e ON e.network = h.network AND e.generation = h.generation
    AND e.chain = p.chain AND e.block = p.block AND e.log_index = p.sequence AND e.kind = ${ENTRY_KIND.pay_community_name}
  WHERE h.network = p.network AND get_byte(e.effects, ${OUTCOME_OFFSET}) = ${BID_OUTCOME.won})`
/** SQL condition on a settlement or refund, the two payouts of a payment for a name on the hub. */
const IS_PAYOUT_SQL = `kind IN (${codeListSql(JOB_KIND, 'settle', 'refund')})`

/**
 * SQL for a WITH clause: `due` has the open payments for names on the hub of a network (`$1`), each with its due
 * `payout`. `settle`: by the hub's confirmed outcome, the payment won its name. `refund`: the payment did not win its
 * name, or matches no quote of ours. Null while the outcome is unknown.
 */
export const DUE_PAYOUTS_SQL = `due AS (
  SELECT p.*, CASE
      WHEN p.verdict = ${QUOTE_VERDICT.foreign} THEN ${refund}
      WHEN o.outcome = ${BID_OUTCOME.won} THEN ${settle}
      WHEN o.outcome IS NOT NULL THEN ${refund}
    END AS payout
  FROM payments p
  LEFT JOIN LATERAL ${HUB_OUTCOME_SQL} o ON true
  WHERE p.network = $1 AND p.kind = ${PAYMENT_KIND.name} AND p.state = ${PAYMENT_STATE.confirmed})`

/**
 * Queues the due payouts of a Solana program's payments, each once: settlements, refunds, and releases of payments for
 * community names. Deletes queued payouts of the network that are no longer due, as after a rewind of the hub.
 * @returns how many it queued
 */
export async function queuePayouts(
  client: pg.ClientBase,
  { network, chain }: ChainRowKey,
  { releaseAfterMs, nowMs }: { releaseAfterMs: number; nowMs: number },
): Promise<number> {
  await execute(
    client,
    network,
    `WITH ${DUE_PAYOUTS_SQL} DELETE FROM jobs j USING due d
     WHERE j.network = $1 AND j.state = ${JOB_STATE.queued} AND j.${IS_PAYOUT_SQL} AND d.id = j.subject AND d.payout IS DISTINCT FROM j.kind`,
  )
  const releases = await queueReleases(client, { network, chain }, { releaseAfterMs, nowMs })
  const payouts = await execute(
    client,
    network,
    `WITH ${DUE_PAYOUTS_SQL} INSERT INTO jobs (network, kind, chain, subject, created_ms, updated_ms)
     SELECT network, payout, chain, id, $2, $2 FROM due
     WHERE chain = $3 AND payout IS NOT NULL
     ON CONFLICT DO NOTHING`,
    [nowMs, chain],
  )
  return releases + payouts
}

/** The release of a payment is queued at the latest at this share of its holding time. */
export const RELEASE_HOLDING_TIME_SHARE = 0.7

/** Queues releases of payments that bought their name: they are in the journal, and no job refuses them. */
const QUEUE_RELEASES = `INSERT INTO jobs (network, kind, chain, subject, created_ms, updated_ms)
  SELECT p.network, ${release}, p.chain, p.id, $2::int8, $2::int8 FROM payments p
  WHERE p.network = $1 AND p.chain = $3 AND p.kind = ${PAYMENT_KIND.communityName} AND p.state = ${PAYMENT_STATE.done} AND p.outcome IS NULL
    AND p.paid_ms + least($4::float8, ${RELEASE_HOLDING_TIME_SHARE} * (p.reclaimable_ms - p.paid_ms)) <= $2::int8
    AND NOT EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind IN (${refuse}, ${release}))
  ON CONFLICT DO NOTHING`

/**
 * Queues releases of the payments that bought their name and are old enough.
 * @param releaseAfterMs least age, ms; less for a payment with a short holding time (RELEASE_HOLDING_TIME_SHARE)
 * @returns how many it queued
 */
export const queueReleases = (
  client: pg.ClientBase,
  { network, chain }: ChainRowKey,
  { releaseAfterMs, nowMs }: { releaseAfterMs: number; nowMs: number },
): Promise<number> =>
  execute(client, network, prepared(QUEUE_RELEASES), [nowMs, chain, releaseAfterMs])

/**
 * Counts refused payments that bought their names. Jobs of this database refuse only payments that bought nothing, so
 * other software made these refusals.
 */
const COUNT_REFUSED_NAMES = `SELECT count(*)::int AS count FROM payments p
  WHERE p.network = $1 AND p.chain = $2 AND p.outcome = ${PAYMENT_OUTCOME.refused} AND p.reclaimable_ms > $3
    AND NOT EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind IN (${refuse}, ${refund}))
    AND CASE WHEN p.kind = ${PAYMENT_KIND.name} THEN ${HUB_OUTCOME_SQL} = ${BID_OUTCOME.won} ELSE ${HAS_BOUGHT_NAME_SQL} END`

/**
 * Counts payments of a chain that were refused although they bought their names. A payment counts until the time from
 * which its payer could have reclaimed it.
 */
export async function countWronglyRefusedPayments(
  db: Queryable,
  { network, chain }: ChainRowKey,
  nowMs: number,
): Promise<number> {
  const text = prepared(COUNT_REFUSED_NAMES)
  const [row] = await query<{ count: number }>(db, network, text, [chain, nowMs])
  return row!.count
}
