import {
  type EvmJobTx,
  JOB_KIND,
  JOB_STATE,
  type Job,
  type JobState,
  type JobTx,
  MAX_JOBS_PER_BATCH,
  type SolanaJobTx,
} from '../../registry/outbox.js'
import type { StoredPayment } from '../../registry/payment/payment.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import type { StoredMessage } from '../bridge/openMessages.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentFromRow } from '../payments/rows.js'
import { nameOfCode } from '../pg/codes.js'
import { prepared, type Queryable, query } from '../pg/rows.js'

export interface JobRow<Tx extends JobTx = JobTx> extends Job<Tx> {
  /** The job's message. Null for kinds of jobs without one. */
  message: StoredMessage | null
  /** The job's payment. Null for kinds of jobs without one, and after a rewind removed the payment. */
  payment: StoredPayment | null
  /** The other jobs that the job's transaction executes, oldest first. */
  others: readonly JobRow<Tx>[]
}

/** Columns as the database returns them. Amounts are text in JSON. */
type JobColumns = Omit<Job, 'id' | 'kind' | 'state' | 'txs' | 'batch'> & {
  id: number
  batch: number | null
  kind: number
  state: number
  txs: JobTxJson[]
}

const AMOUNTS = ['gas', 'valueWei', 'maxFeePerGas', 'maxPriorityFeePerGas'] as const
type JobTxJson =
  | (Omit<EvmJobTx, (typeof AMOUNTS)[number]> & Record<(typeof AMOUNTS)[number], string>)
  | SolanaJobTx

/** Amounts as decimal text, since JSON's numbers would lose digits. */
export const txJson = (tx: JobTx): JobTxJson =>
  'gas' in tx ? { ...tx, ...amountsOf(tx, String) } : tx
const txOf = (json: JobTxJson): JobTx =>
  'gas' in json ? { ...json, ...amountsOf(json, BigInt) } : json

const amountsOf = <From, To>(
  tx: Record<(typeof AMOUNTS)[number], From>,
  to: (amount: From) => To,
) =>
  Object.fromEntries(AMOUNTS.map((key) => [key, to(tx[key])])) as Record<
    (typeof AMOUNTS)[number],
    To
  >

const COLUMNS = `j.network, j.id, j.kind, j.chain, j.subject, j.state, j.txs, j.failures, j.next_ms, j.reason, j.release, j.alone, j.batch, j.signer, j.nonce,
  j.value_wei, j.spent_wei, j.included, j.created_ms, j.updated_ms, j.version`

/** Called for a job whose row this version can't read. The job is left out. */
export type OnUnreadableJob = (error: unknown, about: { job: string }) => void

/** For callers that must not continue without the job. */
const throwIt: OnUnreadableJob = (error) => {
  throw error
}

/**
 * Reads jobs `j` of one network (`$1`) with their messages and payments.
 * @param rest the statement after `FROM jobs j`
 * @param values values of `$2` and up
 * @throws Error for an unreadable row, unless `onUnreadable` is given
 */
export async function selectJobs<Tx extends JobTx = JobTx>(
  db: Queryable,
  network: Network,
  rest: string,
  values: readonly unknown[],
  onUnreadable = throwIt,
): Promise<JobRow<Tx>[]> {
  const text = `SELECT ${COLUMNS} FROM jobs j ${rest}`
  const { jobs } = readableJobs(await query<JobColumns>(db, network, text, values), onUnreadable)
  // all jobs of a chain have transactions of its family
  return (await withSubjects(db, network, jobs, onUnreadable)) as JobRow<Tx>[]
}

export interface JobFilter {
  networks: readonly Network[]
  states: readonly JobState[]
  limit: number
}

/** Jobs of some states, newest first. */
export async function listJobs(
  db: Queryable,
  { networks, states, limit }: JobFilter,
  onUnreadable?: OnUnreadableJob,
): Promise<JobRow[]> {
  const values = [states.map((state) => JOB_STATE[state]), limit]
  const text = 'WHERE j.network = $1 AND j.state = ANY ($2::int2[]) ORDER BY j.id DESC LIMIT $3'
  const found = networks.map((network) => selectJobs(db, network, text, values, onUnreadable))
  const jobs = (await Promise.all(found)).flat()
  return jobs.sort((a, b) => Number(b.id) - Number(a.id)).slice(0, limit)
}

/** A job by its id, in any network. Null for an unknown id. */
export async function findJobById(db: Queryable, id: string): Promise<JobRow | null> {
  const found = NETWORKS.map((network) =>
    selectJobs(db, network, 'WHERE j.network = $1 AND j.id = $2', [id]),
  )
  return (await Promise.all(found)).flat()[0] ?? null
}

function jobOf(row: JobColumns): Job {
  return {
    ...row,
    id: String(row.id),
    batch: row.batch === null ? null : String(row.batch),
    kind: nameOfCode(JOB_KIND, row.kind),
    state: nameOfCode(JOB_STATE, row.state),
    txs: row.txs.map(txOf),
  }
}

/** @returns the readable jobs, and the rows that are left out */
function readableJobs(rows: readonly JobColumns[], onUnreadable: OnUnreadableJob) {
  const jobs: Job[] = []
  const unreadable: JobColumns[] = []
  for (const row of rows) {
    try {
      jobs.push(jobOf(row))
    } catch (error) {
      onUnreadable(error, { job: String(row.id) })
      unreadable.push(row)
    }
  }
  return { jobs, unreadable }
}

async function withSubjects(
  db: Queryable,
  network: Network,
  selected: readonly Job[],
  onUnreadable: OnUnreadableJob,
): Promise<JobRow[]> {
  const beside = await readOthers(db, network, selected)
  const { jobs: others, unreadable } = readableJobs(beside, onUnreadable)
  // a transaction executes a whole batch, so the batch is left out if one of its jobs is unreadable
  const asked = selected.filter(({ id }) => !unreadable.some(({ batch }) => String(batch) === id))
  const subjects = [...asked, ...others].flatMap(({ subject }) => subject ?? [])
  const messages = byId(await readMessages(db, network, subjects), ({ guid }) => guid)
  const payments = byId(await readPayments(db, network, subjects), ({ id }) => id)
  const find = <T>(all: ReadonlyMap<string, T>, { subject }: Job): T | null =>
    (subject && all.get(subject.toString('hex'))) ?? null
  const rowOf = (job: Job, batch: readonly JobRow[] = []): JobRow => ({
    ...job,
    message: find(messages, job),
    payment: find(payments, job),
    others: batch,
  })
  const rows = others.map((job) => rowOf(job))
  return asked.map((job) =>
    rowOf(
      job,
      rows.filter(({ batch }) => batch === job.id),
    ),
  )
}

/**
 * Jobs that the transactions of other jobs execute, oldest first. A queued job belongs to no batch, even if it did
 * before.
 */
async function readOthers(
  db: Queryable,
  network: Network,
  asked: readonly Job[],
): Promise<JobColumns[]> {
  const ids = asked
    .filter(({ kind, nonce }) => kind in MAX_JOBS_PER_BATCH && nonce !== null)
    .map(({ id }) => id)
  if (ids.length === 0) return []
  const text = `SELECT ${COLUMNS} FROM jobs j
    WHERE j.network = $1 AND j.batch = ANY ($2::int8[]) AND j.state <> ${JOB_STATE.queued} ORDER BY j.id`
  return query<JobColumns>(db, network, prepared(text), [ids])
}

const byId = <T>(rows: readonly T[], id: (row: T) => Buffer): ReadonlyMap<string, T> =>
  new Map(rows.map((row) => [id(row).toString('hex'), row]))

async function readMessages(
  db: Queryable,
  network: Network,
  guids: readonly Buffer[],
): Promise<StoredMessage[]> {
  if (guids.length === 0) return []
  const text = `SELECT guid, chain, tx_hash, sent_ms, packet, options FROM messages WHERE network = $1 AND guid = ANY ($2::bytea[])`
  return query<StoredMessage>(db, network, prepared(text), [guids])
}

async function readPayments(
  db: Queryable,
  network: Network,
  ids: readonly Buffer[],
): Promise<StoredPayment[]> {
  if (ids.length === 0) return []
  const text = `SELECT ${PAYMENT_COLUMNS} FROM payments p WHERE p.network = $1 AND p.id = ANY ($2::bytea[])`
  return (await query<PaymentRow>(db, network, prepared(text), [ids])).map(paymentFromRow)
}
