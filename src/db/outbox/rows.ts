import {
  JOB_KIND,
  JOB_STATE,
  type Job,
  type JobState,
  type JobTx,
  MAX_JOBS_PER_BATCH,
} from '../../registry/outbox.js'
import type { StoredPayment } from '../../registry/payment/payment.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import type { StoredMessage } from '../bridge/openMessages.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentFromRow } from '../payments/rows.js'
import { nameOfCode } from '../pg/codes.js'
import { type PreparedText, prepared, type Queryable, query } from '../pg/rows.js'

export interface JobRow<Tx extends JobTx = JobTx> extends Job<Tx> {
  /** The message that the job verifies or executes. Null for other kinds of jobs. */
  message: StoredMessage | null
  /** The payment that the job is about. Null for other kinds of jobs, and after a rewind removed the payment. */
  payment: StoredPayment | null
  /** The other jobs that the job's transaction executes, oldest first. */
  others: readonly JobRow<Tx>[]
}

/** A row of `jobs` as the database returns its columns. */
type JobColumns = Omit<Job, 'id' | 'kind' | 'state' | 'txs' | 'batch'> & {
  id: number
  batch: number | null
  kind: number
  state: number
  txs: Record<string, unknown>[]
}

/** Transactions in JSON. Amounts are decimal text, since JSON's numbers would lose digits. */
export const txsJson = (txs: readonly JobTx[]): string =>
  JSON.stringify(txs, (_, value) => (typeof value === 'bigint' ? String(value) : value))

const TX_AMOUNT_KEYS = ['gas', 'valueWei', 'maxFeePerGas', 'maxPriorityFeePerGas']
const txFromJson = (json: Record<string, unknown>): JobTx => {
  const amounts = TX_AMOUNT_KEYS.filter((key) => key in json)
  const read = amounts.map((key) => [key, BigInt(json[key] as string)])
  return { ...json, ...Object.fromEntries(read) } as JobTx
}

const JOB_COLUMNS = `j.network, j.id, j.kind, j.chain, j.subject, j.state, j.txs, j.failures, j.next_ms, j.reason, j.release, j.alone, j.batch, j.signer, j.nonce,
  j.value_wei, j.spent_wei, j.included, j.created_ms, j.updated_ms, j.version`

/** Called for a job whose row this version can't read. Unless it throws, the job is left out. */
export type OnUnreadableJob = (error: unknown, about: { job: string }) => void

/** Default of `onUnreadable`, for callers that must not continue without a job. */
const throwUnreadable: OnUnreadableJob = (error) => {
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
  onUnreadable = throwUnreadable,
): Promise<JobRow<Tx>[]> {
  const text = `SELECT ${JOB_COLUMNS} FROM jobs j ${rest}`
  const jobs = readableJobs(await query<JobColumns>(db, network, text, values), onUnreadable)
  // all jobs of a chain have transactions of its family
  return (await addSubjects(db, network, jobs, onUnreadable)) as JobRow<Tx>[]
}

/** Jobs whose state is one of `states`, newest first. */
export async function listJobs(
  db: Queryable,
  {
    networks,
    states,
    limit,
  }: { networks: readonly Network[]; states: readonly JobState[]; limit: number },
  onUnreadable?: OnUnreadableJob,
): Promise<JobRow[]> {
  const values = [states.map((state) => JOB_STATE[state]), limit]
  const text = 'WHERE j.network = $1 AND j.state = ANY ($2::int2[]) ORDER BY j.id DESC LIMIT $3'
  const reads = networks.map((network) => selectJobs(db, network, text, values, onUnreadable))
  const jobs = (await Promise.all(reads)).flat()
  return jobs.sort((a, b) => Number(b.id) - Number(a.id)).slice(0, limit)
}

/** The job with an id, in any network. Null for an unknown id. @throws Error for an unreadable row */
export async function findJobById(db: Queryable, id: string): Promise<JobRow | null> {
  const reads = NETWORKS.map((network) =>
    selectJobs(db, network, 'WHERE j.network = $1 AND j.id = $2', [id]),
  )
  return (await Promise.all(reads)).flat()[0] ?? null
}

function jobFromRow(row: JobColumns): Job {
  return {
    ...row,
    id: String(row.id),
    batch: row.batch === null ? null : String(row.batch),
    kind: nameOfCode(JOB_KIND, row.kind),
    state: nameOfCode(JOB_STATE, row.state),
    txs: row.txs.map(txFromJson),
  }
}

const readableJobs = (rows: readonly JobColumns[], onUnreadable: OnUnreadableJob): Job[] =>
  rows.flatMap((row) => {
    try {
      return jobFromRow(row)
    } catch (error) {
      onUnreadable(error, { job: String(row.id) })
      return []
    }
  })

const READ_MESSAGES = prepared(
  'SELECT guid, chain, tx_hash, sent_ms, packet, options FROM messages WHERE network = $1 AND guid = ANY ($2::bytea[])',
)
const READ_PAYMENTS = prepared(
  `SELECT ${PAYMENT_COLUMNS} FROM payments p WHERE p.network = $1 AND p.id = ANY ($2::bytea[])`,
)

/** Adds to each job the message or payment that it is about, and the other jobs of its transaction. */
async function addSubjects(
  db: Queryable,
  network: Network,
  selected: readonly Job[],
  onUnreadable: OnUnreadableJob,
): Promise<JobRow[]> {
  const beside = await readJobsOfSameTxs(db, network, selected)
  const others = readableJobs(beside, onUnreadable)
  // a transaction executes a whole batch, so the batch is left out if one of its jobs is unreadable
  const readable = new Set(others.map(({ id }) => id))
  const unreadable = beside.filter(({ id }) => !readable.has(String(id)))
  const broken = new Set(unreadable.map(({ batch }) => String(batch)))
  const jobs = selected.filter(({ id }) => !broken.has(id))
  const subjects = [...jobs, ...others].flatMap(({ subject }) => subject ?? [])
  const read = async <Row>(statement: PreparedText): Promise<Row[]> =>
    subjects.length === 0 ? [] : query<Row>(db, network, statement, [subjects])
  const messages = await read<StoredMessage>(READ_MESSAGES)
  const payments = (await read<PaymentRow>(READ_PAYMENTS)).map(paymentFromRow)
  const messageOf = new Map<string, StoredMessage>()
  const paymentOf = new Map<string, StoredPayment>()
  for (const message of messages) messageOf.set(toHex(message.guid), message)
  for (const payment of payments) paymentOf.set(toHex(payment.id), payment)
  const rowOf = (job: Job, batch: readonly JobRow[] = []): JobRow => {
    const id = job.subject ? toHex(job.subject) : ''
    const message = messageOf.get(id) ?? null
    const payment = paymentOf.get(id) ?? null
    return { ...job, message, payment, others: batch }
  }
  const rows = others.map((job) => rowOf(job))
  return jobs.map((job) =>
    rowOf(
      job,
      rows.filter(({ batch }) => batch === job.id),
    ),
  )
}

/**
 * The other jobs that the transactions of `jobs` execute too, oldest first. A queued job belongs to no batch, even if
 * its row still names one.
 */
async function readJobsOfSameTxs(
  db: Queryable,
  network: Network,
  jobs: readonly Job[],
): Promise<JobColumns[]> {
  const ids = jobs
    .filter(({ kind, nonce }) => kind in MAX_JOBS_PER_BATCH && nonce !== null)
    .map(({ id }) => id)
  if (ids.length === 0) return []
  const text = `SELECT ${JOB_COLUMNS} FROM jobs j
    WHERE j.network = $1 AND j.batch = ANY ($2::int8[]) AND j.state <> ${JOB_STATE.queued} ORDER BY j.id`
  return query<JobColumns>(db, network, prepared(text), [ids])
}
