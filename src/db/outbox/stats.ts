import {
  JOB_KIND,
  JOB_STATE,
  type Job,
  PARKED_BELOW_REFUSAL_COST,
  WAITS_FOR_FUNDS,
} from '../../registry/outbox.js'
import { nameOfCode } from '../pg/codes.js'
import { type ChainRowKey, type Queryable, query } from '../pg/rows.js'
import type { SignerRowKey } from './jobs.js'
import { usedHoldingTimeFractionSql } from './payouts.js'

const DAY_MS = 86_400_000

/** Number of jobs of one kind and state that are not confirmed. A parked job counts too. */
export interface OpenJobCount extends Pick<Job, 'kind' | 'state'> {
  count: number
  /** Creation time of the oldest of these jobs, Unix ms. */
  oldestMs: number
  /**
   * Largest share of the holding time that has passed for a payment of these jobs, if they are settlements or releases.
   * From 1 on, the payer can reclaim the payment. Null for other kinds, and while no payment is held.
   */
  heldShare: number | null
}

/** Counts a chain's unconfirmed jobs by kind and state, without refusals that are parked as not worth their cost. */
export async function countOpenJobs(
  db: Queryable,
  { network, chain }: ChainRowKey,
  nowMs = Date.now(),
): Promise<OpenJobCount[]> {
  const rows = await query<Omit<OpenJobCount, 'kind' | 'state'> & { kind: number; state: number }>(
    db,
    network,
    `SELECT j.kind, j.state, count(*)::int AS count, min(j.created_ms) AS oldest_ms, max(${usedHoldingTimeFractionSql('$3')}) AS held_share FROM jobs j
     WHERE j.network = $1 AND j.chain = $2
       AND (j.state < ${JOB_STATE.confirmed} OR j.state = ${JOB_STATE.parked} AND j.reason IS DISTINCT FROM '${PARKED_BELOW_REFUSAL_COST}')
     GROUP BY j.kind, j.state`,
    [chain, nowMs],
  )
  return rows.map((row) => ({
    ...row,
    kind: nameOfCode(JOB_KIND, row.kind),
    state: nameOfCode(JOB_STATE, row.state),
  }))
}

/** What a signer spends on its chain. */
export interface SignerStats {
  /** Value and gas of the jobs on the signer's chain that ended in the last 24 hours. */
  spentLastDayWei: bigint
  /** Highest possible cost of everything that the signer signed on its chain today (UTC). */
  signedTodayWei: bigint
  /** True if a job on the signer's chain waits for funds of the signer. */
  isDry: boolean
}

export async function readSignerStats(
  db: Queryable,
  { network, chain, signer }: SignerRowKey,
  nowMs: number,
): Promise<SignerStats> {
  const [row] = await query<SignerStats>(
    db,
    network,
    `SELECT (SELECT coalesce(sum(spent_wei + CASE WHEN nonce IS NULL THEN 0 ELSE value_wei END), 0) FROM jobs
         WHERE network = $1 AND chain = $2 AND state = ${JOB_STATE.confirmed} AND updated_ms > $4) AS spent_last_day_wei,
       coalesce((SELECT spent_wei FROM relay_signers
         WHERE network = $1 AND chain = $2 AND signer = $3 AND spent_day = $5), 0) AS signed_today_wei,
       EXISTS (SELECT FROM jobs WHERE network = $1 AND chain = $2 AND state < ${JOB_STATE.confirmed}
         AND reason = '${WAITS_FOR_FUNDS}') AS is_dry`,
    [chain, signer, nowMs - DAY_MS, Math.floor(nowMs / DAY_MS)],
  )
  return row!
}
