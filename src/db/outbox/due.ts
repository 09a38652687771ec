import { type BlockhashTx, INSUFFICIENT_FUNDS, JOB_KIND, JOB_STATE, type NonceTx } from '../../registry/outbox.js'
import type { Network } from '../../registry/primitives/network.js'
import { codeList } from '../pg/codes.js'
import type { ChainKey } from '../pg/rows.js'
import { execute, type Queryable, query } from '../pg/rows.js'
import type { SignerKey } from './jobs.js'
import { type JobRow, selectJobs } from './rows.js'

const { execute: execution, verify } = JOB_KIND
/** States of jobs that have not ended. */
const LIVE = `state < ${JOB_STATE.confirmed}`
const BEFORE_INCLUSION = codeList(JOB_STATE, 'queued', 'signed', 'sent', 'parked')

/** Upper bound on jobs per step, and so on transactions under way: the first nonces and the oldest jobs go first. */
export const NONCE_JOBS_AT_ONCE = 200

/**
 * Jobs of a signer on an EVM chain that may need work: first those with a nonce, by nonce; then queued ones, in the
 * order of creation; at most `NONCE_JOBS_AT_ONCE`. An execution waits until its verification is in a block; backed-off
 * jobs wait for `next_ms`, unless the hub has received their subject meanwhile.
 */
export function dueNonceJobs(
  db: Queryable,
  { network, chain, signer }: SignerKey,
  nowMs: number,
): Promise<JobRow<NonceTx>[]> {
  return selectJobs(
    db,
    network,
    `WHERE j.network = $1 AND j.chain = $2 AND j.${LIVE} AND j.batch IS NULL AND (
       (j.nonce IS NOT NULL AND j.signer = $3)
       OR (j.nonce IS NULL
         AND (j.next_ms <= $4 OR EXISTS (SELECT FROM received r WHERE r.network = j.network AND r.guid = j.subject AND r.confirmed))
         AND NOT EXISTS (SELECT FROM jobs v WHERE j.kind = ${execution} AND v.network = j.network AND v.subject = j.subject
           AND v.kind = ${verify} AND v.state IN (${BEFORE_INCLUSION}))))
     ORDER BY j.nonce NULLS LAST, j.id LIMIT ${NONCE_JOBS_AT_ONCE}`,
    [chain, signer, nowMs],
  )
}

/** Jobs at nonces of other signers on a chain, which this one follows to their end. */
export function jobsOfOthers(db: Queryable, { network, chain, signer }: SignerKey): Promise<JobRow<NonceTx>[]> {
  return selectJobs(
    db,
    network,
    `WHERE j.network = $1 AND j.chain = $2 AND j.${LIVE} AND j.batch IS NULL AND j.nonce IS NOT NULL AND j.signer <> $3
     ORDER BY j.signer, j.nonce LIMIT ${NONCE_JOBS_AT_ONCE}`,
    [chain, signer],
  )
}

/** Upper bound on refusals, and on payouts, per step: a stranger may cause many. */
const BLOCKHASH_JOBS_AT_ONCE = 200

/** Jobs on a Solana cluster that may need work: refusals, sent first; then the rest; each by payment. */
export async function dueBlockhashJobs(
  db: Queryable,
  { network, chain }: ChainKey,
  nowMs: number,
): Promise<JobRow<BlockhashTx>[]> {
  const due = `JOIN payments p ON p.network = j.network AND p.id = j.subject
    WHERE j.network = $1 AND j.chain = $2 AND j.${LIVE} AND (j.state > ${JOB_STATE.queued} OR j.next_ms <= $3)`
  const refusals = `${due} AND j.kind = ${JOB_KIND.refuse}
    ORDER BY j.state = ${JOB_STATE.queued}, p.paid_ms, p.sequence LIMIT ${BLOCKHASH_JOBS_AT_ONCE}`
  const payouts = `${due} AND j.kind <> ${JOB_KIND.refuse}
    ORDER BY j.state = ${JOB_STATE.queued}, p.paid_ms, p.sequence LIMIT ${BLOCKHASH_JOBS_AT_ONCE}`
  const values = [chain, nowMs]
  return [
    ...(await selectJobs<BlockhashTx>(db, network, refusals, values)),
    ...(await selectJobs<BlockhashTx>(db, network, payouts, values)),
  ]
}

/** More than a job or a webhook is ever put off: what waits longer is of a clock that has been set back since. */
export const LONGEST_PAUSE_MS = 2 * 3_600_000

/**
 * Lets jobs go on at once that wait for the signer's funds, or for the time of a clock that was ahead.
 * @returns how many there are
 */
export function wakeJobs(db: Queryable, { network, chain }: ChainKey, nowMs: number): Promise<number> {
  const text = `UPDATE jobs SET next_ms = 0, failures = 0, updated_ms = $3, version = version + 1
    WHERE network = $1 AND chain = $2 AND ${LIVE} AND batch IS NULL AND next_ms > $3
      AND (reason = '${INSUFFICIENT_FUNDS}' OR next_ms > $3 + ${LONGEST_PAUSE_MS})`
  return execute(db, network, text, [chain, nowMs])
}

/** Whether a chain has a job that has not ended. */
export async function hasLiveJobs(db: Queryable, { network, chain }: ChainKey): Promise<boolean> {
  const text = `SELECT EXISTS (SELECT FROM jobs WHERE network = $1 AND chain = $2 AND ${LIVE}) AS live`
  return (await query<{ live: boolean }>(db, network, text, [chain]))[0]!.live
}

/** Jobs by id as they stand now, in any order. */
export function findJobs<Tx extends NonceTx | BlockhashTx>(
  db: Queryable,
  network: Network,
  ids: readonly string[],
): Promise<JobRow<Tx>[]> {
  return selectJobs<Tx>(db, network, 'WHERE j.network = $1 AND j.id = ANY ($2::int8[])', [ids])
}

/** One job as it stands now, null where there is none. */
export async function findJob(db: Queryable, network: Network, id: string): Promise<JobRow | null> {
  const [job] = await findJobs(db, network, [id])
  return job ?? null
}
