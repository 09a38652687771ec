import type pg from 'pg'
import { isoTimestamp } from '../../api/http/timestamps.js'
import { readChainLabels } from '../../db/chains/chains.js'
import { type JobRow, listJobs } from '../../db/outbox/rows.js'
import { listSigners, moveNextNonce } from '../../db/outbox/signers.js'
import { notifyNetwork } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import type { Queryable } from '../../db/pg/rows.js'
import { JOB_STATE, type JobState } from '../../registry/outbox.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { txIdText } from '../../registry/primitives/txId.js'
import {
  executeOperatorJobAction,
  type OperatorJobAction,
  requireJob,
} from '../../relayer/operatorActions.js'
import { withDatabasePool } from '../database.js'
import { durationText, errorMessageOf, printFields, printList } from '../output.js'
import { createWholeNumberParser, type NetworkOptions, networksOfOptions } from '../values.js'

interface OutboxOptions extends NetworkOptions {
  all?: boolean
  json?: boolean
}

interface ListJobsOptions extends OutboxOptions {
  state?: string
  limit: number
}

const JOB_STATES = Object.keys(JOB_STATE) as JobState[]

/** `clusterd outbox list`: prints the relayer's jobs. Without `--state` or `--all`, confirmed jobs are left out. */
export async function printJobs(options: ListJobsOptions): Promise<void> {
  const { state, all, limit } = options
  const states = JOB_STATES.filter((one) =>
    state === undefined ? all || one !== 'confirmed' : one === state,
  )
  const jobs = await withDatabasePool(async (pool) => {
    const rows = await listJobs(
      pool,
      { states, networks: networksOfOptions(options), limit },
      (error, { job }) => console.error(`Job ${job} can not be read (${errorMessageOf(error)}).`),
    )
    return withChainLabels(pool, rows)
  })
  const nowMs = Date.now()
  printList(jobs, {
    json: options.json,
    none: 'No jobs.',
    describe: describeJob,
    row(job) {
      const { id, network, kind, nonce, failures, reason } = job
      const next =
        job.state === 'queued' && job.nextMs > nowMs
          ? `in ${durationText(job.nextMs - nowMs)}`
          : null
      const age = durationText(nowMs - job.createdMs)
      const subject = jobSubjectHex(job)?.replace(/(?<=^.{18}).*/, '…')
      return {
        id,
        network,
        kind,
        state: jobStateText(job),
        nonce,
        failures,
        age,
        next,
        reason,
        subject,
      }
    },
  })
}

/** `clusterd outbox show`: prints a job of the relayer. @throws Error with one sentence where there is no such job */
export const showJob = (id: string, options: OutboxOptions): Promise<void> =>
  printJob(options, (pool) => requireJob(pool, id))

/**
 * `clusterd outbox retry`, `park` and `resume`: executes the action, which a running daemon notices immediately, and
 * prints the job.
 * @throws Error with one sentence where there is no such job
 */
export const executeJobAction = (
  id: string,
  options: OutboxOptions,
  action: OperatorJobAction,
): Promise<void> => printJob(options, (pool) => executeOperatorJobAction(pool, action, id))

async function printJob(
  { json }: OutboxOptions,
  read: (pool: pg.Pool) => Promise<JobRow>,
): Promise<void> {
  const job = await withDatabasePool(async (pool) => {
    const [labelled] = await withChainLabels(pool, [await read(pool)])
    return describeJob(labelled!)
  })
  printFields(job, json)
}

const jobStateText = ({ state, release }: JobRow): string =>
  release === null ? state : `${state}, to be ${release === 'queue' ? 'queued' : 'parked'}`

const jobSubjectHex = ({ subject }: JobRow): string | null => subject && toHex(subject)

/** A job with the label of its chain; null where the database has no such chain. */
interface LabelledJob extends JobRow {
  label: string | null
}

async function withChainLabels(db: Queryable, jobs: readonly JobRow[]): Promise<LabelledJob[]> {
  const networks = [...new Set(jobs.map(({ network }) => network))]
  const labels = new Map(
    await Promise.all(networks.map(async (one) => [one, await readChainLabels(db, one)] as const)),
  )
  return jobs.map((job) => ({ ...job, label: labels.get(job.network)?.get(job.chain) ?? null }))
}

/** A job as JSON, bytes as text. `nextMs`, the time of the next attempt, is null for a job that need not wait. */
function describeJob(job: LabelledJob) {
  const { message, payment, signer, txs, others, label, ...rest } = job
  return {
    ...rest,
    chain: label,
    nextMs: job.nextMs || null,
    signer: signer && toHex(signer),
    subject: jobSubjectHex(job),
    message: message && { tx: toHex(message.txHash), sentAt: isoTimestamp(message.sentMs) },
    payment: payment && {
      tx: txIdText(payment.tx),
      paidAt: isoTimestamp(payment.paidMs),
      reclaimableAt: isoTimestamp(payment.target.reclaimableMs),
      ...(payment.outcome && { outcome: payment.outcome }),
    },
    txs: txs.map(({ raw: _, ...shown }) => shown),
    others: others.map(({ id }) => id),
  }
}

/**
 * `clusterd outbox nonce [chain] [next]`: shows the relayer's accounts (signers) with their next nonces, or sets the
 * next nonce of one signer. A running daemon uses it from then on.
 * @throws Error with one sentence where `next` is given and no signer or several match, an unfinished job holds the
 * nonce or a later one, or the next nonce moved meanwhile
 */
export async function showOrSetNonce(
  chain: string | undefined,
  next: string | undefined,
  options: OutboxOptions & { signer?: Buffer },
): Promise<void> {
  const signers = await withDatabasePool(async (pool) => {
    const all = await listSigners(pool, networksOfOptions(options))
    const chosen = all.filter(
      ({ label, signer }) =>
        (chain === undefined || label === chain) &&
        (!options.signer || signer.equals(options.signer)),
    )
    if (next === undefined) return chosen
    const [row] = chosen
    if (!row || chosen.length > 1)
      throw new Error(
        `${chosen.length} signers are known on chain "${chain}": name one with --signer.`,
      )
    const to = createWholeNumberParser('The next nonce', { max: 9_999_999_999 })(next)
    if (row.top !== null && to <= row.top)
      throw new Error(`A job under way holds nonce ${row.top}: the next one is above that.`)
    if (!(await inTransaction(pool, (client) => moveNextNonce(client, row, row.next, to))))
      throw new Error(`The next nonce is not ${row.next} any more: run the command again.`)
    await notifyNetwork(pool, row.network)
    return [{ ...row, next: to, claimed: null }]
  })
  printList(signers, {
    json: options.json,
    none: 'No signer has sent anything.',
    describe: ({ network, label, signer, next, claimed }) => ({
      network,
      chain: label,
      signer: toHex(signer),
      next,
      claimed,
    }),
  })
}
