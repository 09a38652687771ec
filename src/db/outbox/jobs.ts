import type pg from 'pg'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import {
  DailyCapError,
  type EvmJobTx,
  JOB_KIND,
  JOB_STATE,
  type Job,
  type JobKind,
  type JobProgress,
  maxNonceCostWei,
} from '../../registry/outbox.js'
import { PAYMENT_STATE } from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { assertRelayingLeader } from '../journal/head.js'
import { type ArrayColumns, columnsFromProperties, insertRows, unnestSql } from '../pg/arrays.js'
import { inTransaction } from '../pg/pool.js'
import { type ChainRowKey, execute, prepared, type Queryable, query } from '../pg/rows.js'
import { txsJson } from './rows.js'

const DAY_MS = 86_400_000
/** A job was changed since it was read. */
class StaleVersionError extends Error {}

export interface SignerRowKey extends ChainRowKey {
  signer: Buffer
}

export interface NewJob {
  kind: JobKind
  chain: number
  /** Guid of the message, or id of the payment. */
  subject: Buffer
  valueWei?: bigint
}

const newJobColumns = (nowMs: number): ArrayColumns<NewJob> => [
  ['kind', 'int2', ({ kind }) => JOB_KIND[kind]],
  ['chain', 'int2', ({ chain }) => chain],
  ['subject', 'bytea', ({ subject }) => subject],
  ['value_wei', 'numeric', ({ valueWei = 0n }) => valueWei],
  ['created_ms', 'int8', () => nowMs],
  ['updated_ms', 'int8', () => nowMs],
]

/** Queues jobs. Leaves out a job whose message or payment already has a job of this kind. @returns how many are new */
export const insertJobs = (
  db: Queryable,
  network: Network,
  items: readonly NewJob[],
  nowMs: number,
): Promise<number> =>
  insertRows(db, network, {
    table: 'jobs',
    columns: newJobColumns(nowMs),
    items,
    onConflict: () => 'DO NOTHING',
  })

/** Inserts a job that only uses up a nonce. @returns false when another job has taken the nonce meanwhile */
export async function insertNoopJob(
  client: pg.ClientBase,
  { network, chain, signer }: SignerRowKey,
  { nonce, tx, nowMs }: { nonce: number; tx: EvmJobTx; nowMs: number },
): Promise<boolean> {
  const text = `INSERT INTO jobs (network, kind, chain, signer, state, nonce, txs, created_ms, updated_ms)
    VALUES ($1, ${JOB_KIND.noop}, $2, $3, ${JOB_STATE.signed}, $4, $5, $6, $6) ON CONFLICT DO NOTHING`
  return (await execute(client, network, text, [chain, signer, nonce, txsJson([tx]), nowMs])) === 1
}

/**
 * Who changes jobs, and when. `epoch`: the relaying leader's epoch, or null for an operator. `signer`: account whose
 * nonce the job takes or holds. `nowMs`: Unix ms.
 */
export interface JobChangeAuthor {
  epoch: number | null
  nowMs: number
  signer?: Buffer
  /** Maximum wei that the signer may spend with what it signs in a day (UTC). Absent: no limit. */
  dailyCapWei?: bigint
}

/** A change of a job, and of the other jobs in its transaction. */
export interface JobChange<Progress extends JobProgress = JobProgress> {
  job: Job & { others?: readonly Job[] }
  /** The job's new progress. A function makes it from the signer's next nonce, taken in the same transaction. */
  after: Progress | ((nonce: number) => Promise<Progress>)
}

/** A `JobChange` whose `after` is known, because its nonce, if it takes one, is taken. */
type ResolvedChange = JobChange & { after: JobProgress }

/** Runs work in one transaction of the relaying leader. @throws LostLeadershipError */
export const inRelayerTransaction = <T>(
  pool: pg.Pool,
  { network, epoch }: { network: Network; epoch: number },
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> =>
  inTransaction(pool, async (client) => {
    await assertRelayingLeader(client, network, epoch)
    return work(client)
  })

/**
 * Stores the new states of jobs of one network, and of the other jobs in their transactions. Stores all changes, or
 * none where another process has changed one of the jobs since that job was read. A confirmed settlement or refund ends
 * its payment.
 * @returns false when a job has changed
 * @param changes at least one; exactly one if `by` has a signer
 * @throws LostLeadershipError; DailyCapError where newly signed transactions exceed the signer's daily cap
 */
export function saveJobs(
  pool: pg.Pool,
  changes: readonly JobChange[],
  by: JobChangeAuthor,
): Promise<boolean> {
  const work = async (client: pg.ClientBase): Promise<void> => {
    const { network, chain } = changes[0]!.job
    const { epoch, nowMs, signer, dailyCapWei } = by
    if (epoch !== null) await assertRelayingLeader(client, network, epoch)
    const key = signer && { network, chain, signer }
    const made: ResolvedChange[] = []
    for (const { job, after } of changes)
      made.push({
        job,
        after: typeof after === 'function' ? await after(await takeNonce(client, key!)) : after,
      })
    await updateJobs(client, network, made, by)
    if (key && dailyCapWei !== undefined)
      await reserveSpending(client, key, newlySignedWei(made[0]!), { nowMs, dailyCapWei })
  }
  return fallbackOnExpectedError(
    inTransaction(pool, work).then(() => true),
    (error) => error instanceof StaleVersionError,
    false,
  )
}

async function takeNonce(
  client: pg.ClientBase,
  { network, chain, signer }: SignerRowKey,
): Promise<number> {
  const text = `UPDATE relay_signers SET next_nonce = next_nonce + 1 WHERE network = $1 AND chain = $2 AND signer = $3
    RETURNING next_nonce - 1 AS nonce`
  const [row] = await query<{ nonce: number }>(client, network, text, [chain, signer])
  if (!row) throw new Error(`taking a nonce: signer 0x${signer.toString('hex')} is not known`)
  return row.nonce
}

/** Amount by which a change raises the highest possible cost of its job, wei. */
const newlySignedWei = ({ job, after }: ResolvedChange): bigint =>
  maxNonceCostWei(after.txs) - maxNonceCostWei(job.txs)

/** Adds the cost of newly signed transactions to what the signer spends on the day (UTC). @throws DailyCapError */
export async function reserveSpending(
  client: pg.ClientBase,
  { network, chain, signer }: SignerRowKey,
  wei: bigint,
  { nowMs, dailyCapWei }: { nowMs: number; dailyCapWei: bigint },
): Promise<void> {
  if (wei <= 0n) return
  const today = Math.floor(nowMs / DAY_MS)
  const text = `UPDATE relay_signers SET spent_day = $4,
      spent_wei = CASE WHEN spent_day = $4 THEN spent_wei ELSE 0 END + $5::numeric
    WHERE network = $1 AND chain = $2 AND signer = $3
      AND CASE WHEN spent_day = $4 THEN spent_wei ELSE 0 END + $5::numeric <= $6::numeric`
  const count = await execute(client, network, text, [
    chain,
    signer,
    today,
    String(wei),
    String(dailyCapWei),
  ])
  if (count === 0) throw new DailyCapError('the signer has spent what it may in a day')
}

const PROGRESS_COLUMNS: ArrayColumns<JobProgress> = [
  ['state', 'int2', ({ state }) => JOB_STATE[state]],
  ['txs', 'jsonb', ({ txs }) => txsJson(txs)],
  ['included', 'jsonb', ({ included }) => included && JSON.stringify(included)],
  ...columnsFromProperties<JobProgress>('numeric', 'valueWei', 'spentWei'),
  ...columnsFromProperties<JobProgress>('int8', 'nonce', 'nextMs'),
  ...columnsFromProperties<JobProgress>('int4', 'failures'),
  ...columnsFromProperties<JobProgress>('text', 'reason', 'release'),
  ...columnsFromProperties<JobProgress>('bool', 'alone'),
]
interface StoredChange extends ResolvedChange {
  /** Id of the job whose row has the shared transaction. Null for that job itself, and for a job that shares none. */
  batch: string | null
}
const CHANGE_UNNEST_SQL = unnestSql<StoredChange>(
  [
    ['id', 'int8', ({ job }) => job.id],
    ['version', 'int4', ({ job }) => job.version],
    ['batch', 'int8', ({ batch }) => batch],
    ...PROGRESS_COLUMNS.map(
      ([name, type, of]) => [name, type, ({ after }: StoredChange) => of(after)] as const,
    ),
  ],
  4,
)
const UPDATE_JOBS =
  prepared(`UPDATE jobs j SET ${PROGRESS_COLUMNS.map(([column]) => `${column} = u.${column}`).join(', ')}, batch = u.batch,
      updated_ms = $2, signer = coalesce($3, j.signer), version = j.version + 1
    FROM ${CHANGE_UNNEST_SQL.rows} AS u(${CHANGE_UNNEST_SQL.names})
    WHERE j.network = $1 AND j.id = u.id AND j.version = u.version`)

/**
 * Writes changes of jobs and of the jobs that share their transactions. Marks the payments of confirmed settlements and
 * refunds as done.
 * @throws StaleVersionError where another process has changed a job
 */
async function updateJobs(
  client: pg.ClientBase,
  network: Network,
  changes: readonly ResolvedChange[],
  { nowMs, signer }: JobChangeAuthor,
): Promise<void> {
  const all = changes.flatMap(changesOfBatch)
  const count = await execute(client, network, UPDATE_JOBS, [
    nowMs,
    signer ?? null,
    ...CHANGE_UNNEST_SQL.values(all),
  ])
  if (count !== all.length) throw new StaleVersionError('another process has changed a job')
  const ended = changes.filter(({ job, after }) => isPayout(job) && after.state === 'confirmed')
  if (ended.length === 0) return
  const text = `UPDATE payments SET state = ${PAYMENT_STATE.done} WHERE network = $1 AND id = ANY ($2::bytea[])`
  await execute(client, network, text, [ended.map(({ job }) => job.subject)])
}

/**
 * Changes of all jobs that share a transaction. The row of `job` has the transaction, and the other jobs follow its
 * state. Once the transaction is void, the other jobs are queued again. If it failed on the chain (`after.alone`), each
 * of the jobs is then sent in a transaction of its own.
 */
function changesOfBatch({ job, after }: ResolvedChange): StoredChange[] {
  const { state, reason } = after
  const isVoid = state === 'queued' || state === 'parked'
  const isRefused = state === 'queued' && after.alone
  const others = (job.others ?? []).map((other): StoredChange => {
    const change = {
      state: isVoid ? 'queued' : state,
      reason,
      nextMs: isRefused ? 0 : after.nextMs,
    } as const
    return {
      job: other,
      after: { ...other, ...change, alone: other.alone || isRefused },
      batch: isVoid ? null : job.id,
    }
  })
  return [{ job, after, batch: null }, ...others]
}

const isPayout = ({ kind }: Job): boolean => kind === 'settle' || kind === 'refund'
