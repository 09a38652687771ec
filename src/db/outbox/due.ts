import {
  type EvmJobTx,
  JOB_KIND,
  JOB_STATE,
  type SolanaJobTx,
  WAITS_FOR_FUNDS,
} from '../../registry/outbox.js'
import type { Network } from '../../registry/primitives/network.js'
import { codeListSql } from '../pg/codes.js'
import { type ChainRowKey, execute, type Queryable, query } from '../pg/rows.js'
import { isPaymentDeadlineNearSql } from './payouts.js'
import { type JobRow, type OnUnreadableJob, selectJobs } from './rows.js'

const { execute: execution, verify } = JOB_KIND
/** SQL condition on active jobs, which are neither confirmed nor parked. */
const IS_ACTIVE_SQL = `state < ${JOB_STATE.confirmed}`
/** SQL list of the states of a job whose transaction is in no block. */
const STATES_BEFORE_INCLUSION_SQL = codeListSql(JOB_STATE, 'queued', 'signed', 'sent', 'parked')

/** Maximum number of jobs that one step of an EVM chain's relayer reads. */
export const MAX_EVM_JOBS_PER_STEP = 1_000

/**
 * Jobs on an EVM chain that may need work. Jobs that hold a nonce of any signer come first, by nonce, and never wait.
 * Then come queued jobs without a nonce: releases that are near their deadline, then all other jobs, oldest first. A
 * job without a nonce waits until `next_ms`, unless the hub has received its message or payment. An execution without a
 * nonce also waits until its verification is in a block.
 */
export function findDueEvmJobs(
  db: Queryable,
  { network, chain }: ChainRowKey,
  nowMs: number,
  onUnreadable?: OnUnreadableJob,
): Promise<JobRow<EvmJobTx>[]> {
  return selectJobs(
    db,
    network,
    `WHERE j.network = $1 AND j.chain = $2 AND j.${IS_ACTIVE_SQL} AND (j.nonce IS NOT NULL OR j.state = ${JOB_STATE.queued}
       AND (j.next_ms <= $3 OR EXISTS (SELECT FROM received r WHERE r.network = j.network AND r.guid = j.subject AND r.confirmed))
       AND NOT EXISTS (SELECT FROM jobs v WHERE j.kind = ${execution} AND v.network = j.network AND v.subject = j.subject
         AND v.kind = ${verify} AND v.state IN (${STATES_BEFORE_INCLUSION_SQL})))
     ORDER BY j.nonce NULLS LAST, j.nonce IS NULL AND ${isPaymentDeadlineNearSql('$3')} DESC, j.id LIMIT ${MAX_EVM_JOBS_PER_STEP}`,
    [chain, nowMs],
    onUnreadable,
  )
}

/** Maximum number of Solana jobs of each group that one step reads: a stranger may cause many refusals and refunds. */
const MAX_SOLANA_JOBS_PER_GROUP = 200

/**
 * Jobs on a Solana chain that may need work, in three groups: settlements and releases that are near their deadline,
 * then refusals, then all other jobs. In each group, jobs with a signed transaction come first, then jobs of older
 * payments.
 */
export async function findDueSolanaJobs(
  db: Queryable,
  { network, chain }: ChainRowKey,
  nowMs: number,
  onUnreadable?: OnUnreadableJob,
): Promise<JobRow<SolanaJobTx>[]> {
  const due = `JOIN payments p ON p.network = j.network AND p.id = j.subject
    WHERE j.network = $1 AND j.chain = $2 AND j.${IS_ACTIVE_SQL} AND (j.state > ${JOB_STATE.queued} OR j.next_ms <= $3)`
  const order = `ORDER BY j.state = ${JOB_STATE.queued}, p.paid_ms, p.sequence LIMIT ${MAX_SOLANA_JOBS_PER_GROUP}`
  const select = (group: string) =>
    selectJobs<SolanaJobTx>(
      db,
      network,
      `${due} AND ${group} ${order}`,
      [chain, nowMs],
      onUnreadable,
    )
  const isRefusal = `j.kind = ${JOB_KIND.refuse}`
  const isUrgent = isPaymentDeadlineNearSql('$3')
  const urgent = await select(isUrgent)
  const refusals = await select(isRefusal)
  const others = await select(`NOT (${isRefusal} OR ${isUrgent})`)
  return [...urgent, ...refusals, ...others]
}

/** Longest back-off of a job or a webhook, ms. A row with a longer wait was written before the clock was set back. */
export const LONGEST_BACKOFF_MS = 2 * 3_600_000

/**
 * Ends the back-off of jobs that wait for the signer's funds, or whose back-off was set by a clock that was ahead.
 * @returns how many jobs it changed
 */
export function endJobBackoffs(
  db: Queryable,
  { network, chain }: ChainRowKey,
  nowMs: number,
): Promise<number> {
  const text = `UPDATE jobs SET next_ms = 0, failures = 0, updated_ms = $3, version = version + 1
    WHERE network = $1 AND chain = $2 AND ${IS_ACTIVE_SQL} AND next_ms > $3
      AND (reason = '${WAITS_FOR_FUNDS}' OR next_ms > $3 + ${LONGEST_BACKOFF_MS})`
  return execute(db, network, text, [chain, nowMs])
}

/** True if a chain has an active job, which is neither confirmed nor parked. */
export async function hasActiveJobs(
  db: Queryable,
  { network, chain }: ChainRowKey,
): Promise<boolean> {
  const text = `SELECT EXISTS (SELECT FROM jobs WHERE network = $1 AND chain = $2 AND ${IS_ACTIVE_SQL}) AS found`
  return (await query<{ found: boolean }>(db, network, text, [chain]))[0]!.found
}

/** Jobs with the given ids, in no particular order. Ids without a job are ignored. */
export async function findJobs<Tx extends EvmJobTx | SolanaJobTx>(
  db: Queryable,
  network: Network,
  ids: readonly string[],
  onUnreadable?: OnUnreadableJob,
): Promise<JobRow<Tx>[]> {
  if (ids.length === 0) return []
  const text = 'WHERE j.network = $1 AND j.id = ANY ($2::int8[])'
  return selectJobs<Tx>(db, network, text, [ids], onUnreadable)
}
