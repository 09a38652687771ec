import type pg from 'pg'
import {
  BATCH_SIZES,
  commitmentWei,
  DailyCapError,
  JOB_KIND,
  JOB_STATE,
  type Job,
  type JobKind,
  type JobProgress,
  type JobTx,
  type NonceTx,
  StaleVersionError,
} from '../../registry/outbox.js'
import { PAYMENT_STATE } from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { assertRelayer } from '../journal/head.js'
import { type Columns, unnestOf } from '../pg/arrays.js'
import { inTransaction } from '../pg/pool.js'
import type { ChainKey } from '../pg/rows.js'
import { execute, query } from '../pg/rows.js'
import { txJson } from './rows.js'

const DAY_MS = 86_400_000

/** A signer of ours on a chain. */
export interface SignerKey extends ChainKey {
  signer: Buffer
}

/** A job before it is queued. */
export interface NewJob {
  kind: JobKind
  chain: number
  subject: Buffer
  valueWei?: bigint
}

/** Queues jobs, each once whoever asks. @returns how many rows are new */
export function insertJobs(
  client: pg.ClientBase,
  network: Network,
  jobs: readonly NewJob[],
  nowMs: number,
): Promise<number> {
  return execute(
    client,
    network,
    `INSERT INTO jobs (network, kind, chain, subject, value_wei, created_ms, updated_ms)
     SELECT $1, u.kind, u.chain, u.subject, u.value_wei, $2, $2
     FROM unnest($3::int2[], $4::int2[], $5::bytea[], $6::numeric[]) WITH ORDINALITY AS u(kind, chain, subject, value_wei, i)
     ORDER BY u.i ON CONFLICT DO NOTHING`,
    [
      nowMs,
      jobs.map(({ kind }) => JOB_KIND[kind]),
      jobs.map(({ chain }) => chain),
      jobs.map(({ subject }) => subject),
      jobs.map(({ valueWei = 0n }) => valueWei.toString()),
    ],
  )
}

/** Stores a signed noop for a nonce that nothing holds. @returns false when something holds it by now */
export async function insertNoop(
  client: pg.ClientBase,
  { network, chain, signer }: SignerKey,
  { nonce, tx, nowMs }: { nonce: number; tx: NonceTx; nowMs: number },
): Promise<boolean> {
  const text = `INSERT INTO jobs (network, kind, chain, signer, state, nonce, txs, created_ms, updated_ms)
    VALUES ($1, ${JOB_KIND.noop}, $2, $3, ${JOB_STATE.signed}, $4, $5, $6, $6) ON CONFLICT DO NOTHING`
  return (await execute(client, network, text, [chain, signer, nonce, JSON.stringify([txJson(tx)]), nowMs])) === 1
}

/** Author of a change: the relayer's epoch, or null for the operator; and the signer of the nonce, if any. */
export interface ChangedBy {
  epoch: number | null
  nowMs: number
  signer?: Buffer | undefined
  /** The most that the signer may sign for in a day, wei; unbounded where it is left out. */
  dailyCapWei?: bigint | undefined
}

/** A job as it was read, and its progress after a step. */
export interface JobChange {
  job: Job
  after: JobProgress
}

/**
 * Stores what a step made of jobs of one network, and of those that go with them: all of them, or none where another
 * process has changed one since it was read. A confirmed settlement or refund ends its payment.
 * @returns false when a job has changed
 * @throws LostLeadershipError; DailyCapError where what is newly signed would exceed the signer's day
 */
export function saveJobs(pool: pg.Pool, changes: readonly JobChange[], by: ChangedBy): Promise<boolean> {
  return unlessStale(pool, async (client) => {
    const { network } = changes[0]!.job
    if (by.epoch !== null) await assertRelayer(client, network, by.epoch)
    await update(client, network, changes, by)
    const { signer, dailyCapWei } = by
    const [change] = changes
    if (signer && dailyCapWei !== undefined)
      await reserve(client, { network, chain: change!.job.chain, signer }, newlySigned(change!), { ...by, dailyCapWei })
  })
}

/**
 * Takes the signer's next nonce and stores what `build` makes with it, in one transaction or not at all.
 * @returns false when the job has changed
 * @throws LostLeadershipError, DailyCapError
 */
export function saveWithNextNonce(
  pool: pg.Pool,
  job: Job,
  { key, epoch, nowMs, dailyCapWei }: { key: SignerKey; epoch: number; nowMs: number; dailyCapWei: bigint },
  build: (nonce: number) => Promise<JobProgress>,
): Promise<boolean> {
  return unlessStale(pool, async (client) => {
    await assertRelayer(client, key.network, epoch)
    const text = `UPDATE relay_signers SET next_nonce = next_nonce + 1 WHERE network = $1 AND chain = $2 AND signer = $3
      RETURNING next_nonce - 1 AS nonce`
    const [row] = await query<{ nonce: number }>(client, key.network, text, [key.chain, key.signer])
    if (!row) throw new Error(`taking a nonce: signer 0x${key.signer.toString('hex')} is not known`)
    const change = { job, after: await build(row.nonce) }
    await update(client, key.network, [change], { nowMs, signer: key.signer })
    await reserve(client, key, newlySigned(change), { nowMs, dailyCapWei })
  })
}

/** What a change adds to what its job may cost. */
const newlySigned = ({ job, after }: JobChange): bigint => commitmentWei(after.txs) - commitmentWei(job.txs)

/** Counts what was signed into the signer's day. @throws DailyCapError */
export async function reserve(
  client: pg.ClientBase,
  { network, chain, signer }: SignerKey,
  wei: bigint,
  { nowMs, dailyCapWei }: { nowMs: number; dailyCapWei: bigint },
): Promise<void> {
  if (wei <= 0n) return
  const today = Math.floor(nowMs / DAY_MS)
  const text = `UPDATE relay_signers SET spent_day = $4,
      spent_wei = CASE WHEN spent_day = $4 THEN spent_wei ELSE 0 END + $5::numeric
    WHERE network = $1 AND chain = $2 AND signer = $3
      AND CASE WHEN spent_day = $4 THEN spent_wei ELSE 0 END + $5::numeric <= $6::numeric`
  const count = await execute(client, network, text, [chain, signer, today, String(wei), String(dailyCapWei)])
  if (count === 0) throw new DailyCapError('the signer has spent what it may in a day')
}

async function unlessStale(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<void>): Promise<boolean> {
  try {
    await inTransaction(pool, work)
    return true
  } catch (error) {
    if (error instanceof StaleVersionError) return false
    throw error
  }
}

/** Columns that a step changes, with their types. */
const COLUMNS: Columns<JobProgress> = [
  ['state', 'int2', ({ state }) => JOB_STATE[state]],
  ['value_wei', 'numeric', ({ valueWei }) => valueWei.toString()],
  ['nonce', 'int8', ({ nonce }) => nonce],
  ['txs', 'jsonb', ({ txs }) => JSON.stringify(txs.map((tx: JobTx) => txJson(tx)))],
  ['included', 'jsonb', ({ included }) => included && JSON.stringify(included)],
  ['failures', 'int4', ({ failures }) => failures],
  ['next_ms', 'int8', ({ nextMs }) => nextMs],
  ['spent_wei', 'numeric', ({ spentWei }) => spentWei.toString()],
  ['reason', 'text', ({ reason }) => reason],
  ['release', 'text', ({ release }) => release],
  ['alone', 'bool', ({ alone }) => alone],
]
const PROGRESS = unnestOf<JobChange>(
  [
    ['id', 'int8', ({ job }) => job.id],
    ['version', 'int4', ({ job }) => job.version],
    ...COLUMNS.map(([name, type, of]) => [name, type, ({ after }: JobChange) => of(after)] as const),
  ],
  4,
)
const UPDATE = {
  name: 'save_jobs',
  text: `UPDATE jobs j SET ${COLUMNS.map(([column]) => `${column} = u.${column}`).join(', ')}, updated_ms = $2,
      signer = coalesce($3, j.signer), version = j.version + 1
    FROM ${PROGRESS.rows} AS u(${PROGRESS.names})
    WHERE j.network = $1 AND j.id = u.id AND j.version = u.version`,
}

/** @throws StaleVersionError */
async function update(
  client: pg.ClientBase,
  network: Network,
  changes: readonly JobChange[],
  { nowMs, signer }: Omit<ChangedBy, 'epoch'>,
): Promise<void> {
  const count = await execute(client, network, UPDATE, [nowMs, signer ?? null, ...PROGRESS.values(changes)])
  if (count !== changes.length) throw new StaleVersionError('another process has changed a job')
  await takeAlong(client, network, changes, nowMs)
  const ended = changes.filter(({ job, after }) => isPayout(job) && after.state === 'confirmed')
  if (ended.length === 0) return
  const text = `UPDATE payments SET state = ${PAYMENT_STATE.done} WHERE network = $1 AND id = ANY ($2::bytea[])`
  await execute(client, network, text, [ended.map(({ job }) => job.subject)])
}

const setsFree = ({ state, alone }: JobProgress): boolean => state === 'parked' || (state === 'queued' && alone)
const FOLLOWERS = unnestOf<JobChange>(
  [
    ['id', 'int8', ({ job }) => job.id],
    ['state', 'int2', ({ after }) => JOB_STATE[setsFree(after) ? 'queued' : after.state]],
    ['next_ms', 'int8', ({ after }) => (setsFree(after) ? 0 : after.nextMs)],
    ['reason', 'text', ({ after }) => after.reason],
    ['alone', 'bool', ({ after }) => after.state === 'queued' && after.alone],
    ['free', 'bool', ({ after }) => setsFree(after)],
  ],
  3,
)
const TAKE_ALONG = {
  name: 'take_along',
  text: `UPDATE jobs m SET batch = CASE WHEN NOT u.free THEN m.batch END, alone = m.alone OR u.alone, state = u.state,
      next_ms = u.next_ms, reason = u.reason, updated_ms = $2, version = m.version + 1
    FROM ${FOLLOWERS.rows} AS u(${FOLLOWERS.names})
    WHERE m.network = $1 AND m.batch = u.id`,
}

/** The jobs that go with others do as those do; a job that is parked, or goes alone from here on, sets them free. */
async function takeAlong(client: pg.ClientBase, network: Network, changes: readonly JobChange[], nowMs: number) {
  const leads = changes.filter(({ job }) => job.kind in BATCH_SIZES)
  if (leads.length > 0) await execute(client, network, TAKE_ALONG, [nowMs, ...FOLLOWERS.values(leads)])
}

/**
 * Joins jobs of a chain that wait for a transaction and go with none under way: the oldest will do the work of all. One
 * that is backed off joins none, which would wait with it.
 * @throws LostLeadershipError
 */
export function formBatches(
  pool: pg.Pool,
  { network, chain }: ChainKey,
  { epoch, nowMs }: Pick<ChangedBy, 'nowMs'> & { epoch: number },
): Promise<void> {
  const sizes = Object.entries(BATCH_SIZES) as [JobKind, number][]
  const values = [chain, sizes.map(([kind]) => JOB_KIND[kind]), sizes.map(([, size]) => size), nowMs]
  return inTransaction(pool, async (client) => {
    await assertRelayer(client, network, epoch)
    await execute(client, network, FORM_BATCHES, values)
  })
}

/** Upper bound on the oldest jobs that one call joins. */
const JOINED_AT_ONCE = 2_000

const FORM_BATCHES = {
  name: 'form_batches',
  text: `WITH oldest AS (
      SELECT j.id, j.kind, s.size FROM jobs j JOIN unnest($3::int2[], $4::int4[]) AS s(kind, size) ON s.kind = j.kind
      WHERE j.network = $1 AND j.chain = $2 AND j.state = ${JOB_STATE.queued} AND NOT j.alone AND j.next_ms <= $5
        AND NOT EXISTS (SELECT FROM jobs l WHERE l.network = $1 AND l.id = j.batch AND l.state < ${JOB_STATE.confirmed})
        AND NOT EXISTS (SELECT FROM jobs m WHERE m.network = $1 AND m.batch = j.id)
      ORDER BY j.id LIMIT ${JOINED_AT_ONCE}
    ), waiting AS (
      SELECT id, kind, (row_number() OVER (PARTITION BY kind ORDER BY id) - 1) / size AS part FROM oldest
    ), led AS (SELECT id, min(id) OVER (PARTITION BY kind, part) AS lead FROM waiting)
    UPDATE jobs j SET batch = nullif(led.lead, led.id), version = j.version + 1
    FROM led WHERE j.network = $1 AND j.id = led.id AND j.batch IS DISTINCT FROM nullif(led.lead, led.id)`,
}

const isPayout = ({ kind }: Job): boolean => kind === 'settle' || kind === 'refund'
