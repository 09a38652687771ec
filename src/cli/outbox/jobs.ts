import { listJobs } from '../../db/outbox/list.js'
import type { JobRow } from '../../db/outbox/rows.js'
import { JOB_STATE, type JobState, type JobTx } from '../../registry/outbox.js'
import { txText } from '../../registry/payment/payment.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { actOnJob, type OperatorAction, requireJob } from '../../relayer/operatorActions.js'
import { withPool } from '../database.js'
import { duration, printJson, table } from '../output.js'
import { type NetworkOptions, networksOf } from '../values.js'

const DATABASE = { command: 'outbox', max: 1 }

export interface ListOptions extends NetworkOptions {
  state?: string
  all?: boolean
  limit: string
  json?: boolean
}

const STATES = Object.keys(JOB_STATE) as JobState[]
const MAX_LIMIT = 10_000

/** `clusterd outbox list`. @throws Error with one sentence for options that can't be read */
export async function list(options: ListOptions): Promise<void> {
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new Error(`--limit is a whole number from 1 to ${MAX_LIMIT}.`)
  }
  const filter = { states: statesOf(options), networks: networksOf(options), limit }
  const jobs = await withPool(DATABASE, (pool) => listJobs(pool, filter))
  if (options.json) return printJson(jobs.map(describe))
  if (jobs.length === 0) return console.log('No jobs.')
  const nowMs = Date.now()
  console.log(
    table([
      ['ID', 'NETWORK', 'KIND', 'STATE', 'NONCE', 'FAILURES', 'AGE', 'NEXT', 'REASON', 'SUBJECT'],
      ...jobs.map((job) => [
        job.id,
        job.network,
        job.kind,
        stateOf(job),
        job.nonce === null ? '-' : String(job.nonce),
        String(job.failures),
        duration(nowMs - job.createdMs),
        job.state === 'queued' && job.nextMs > nowMs ? `in ${duration(job.nextMs - nowMs)}` : '-',
        job.reason ?? '-',
        subjectOf(job)?.replace(/(?<=^.{18}).*/, '…') ?? '-',
      ]),
    ]),
  )
}

/** `clusterd outbox show <id>`. @throws Error with one sentence where there is no such job */
export async function show(id: string, options: { json?: boolean }): Promise<void> {
  const job = await withPool(DATABASE, (pool) => requireJob(pool, id))
  print(job, options)
}

/** `clusterd outbox retry | park | resume <id>`; a running daemon takes the change up at once. */
export async function change(action: OperatorAction, id: string, options: { json?: boolean }): Promise<void> {
  print(await withPool(DATABASE, (pool) => actOnJob(pool, action, id)), options)
}

function statesOf({ state, all }: ListOptions): readonly JobState[] {
  if (state === undefined) return all ? STATES : STATES.filter((one) => one !== 'confirmed')
  const found = STATES.find((one) => one === state)
  if (!found) throw new Error(`--state is one of ${STATES.join(', ')}.`)
  return [found]
}

/** State of a job, with the next one once nothing signed can count any more. */
const stateOf = ({ state, release }: JobRow): string =>
  release === null ? state : `${state}, to be ${release === 'queue' ? 'queued' : 'parked'}`

/** As JSON shows a job: amounts as decimal text, bytes as hex. */
function describe(job: JobRow) {
  const { message, payment, subject, signer, txs, valueWei, spentWei, ...rest } = job
  return {
    ...rest,
    valueWei: valueWei.toString(),
    spentWei: spentWei.toString(),
    signer: signer && toHex(signer),
    subject: subject && toHex(subject),
    message: message && { tx: toHex(message.txHash), sentAt: new Date(message.sentMs).toISOString() },
    payment: payment && {
      tx: txText(payment),
      paidAt: new Date(payment.paidMs).toISOString(),
      reclaimableAt: dateOf(payment.target.reclaimableMs),
      ...(payment.outcome && { outcome: payment.outcome }),
    },
    txs: txs.map(describeTx),
  }
}

function describeTx(tx: JobTx) {
  const { raw: _, ...shown } = tx
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [key, typeof value === 'bigint' ? value.toString() : value]),
  )
}

const print = (job: JobRow, { json }: { json?: boolean }): void => (json ? printJson(describe(job)) : printLines(job))

function printLines(job: JobRow): void {
  const { included } = job
  const lines: [string, string][] = [
    ['job', `${job.id} (${job.network}, ${job.kind})`],
    ['state', stateOf(job)],
    ['reason', job.reason ?? '-'],
    ['subject', subjectOf(job) ?? '-'],
    ['sent by', originOf(job)],
    ['value', `${job.valueWei} wei`],
    ['spent', `${job.spentWei} wei for gas`],
    ['signer', job.signer ? toHex(job.signer) : '-'],
    ['nonce', job.nonce === null ? '-' : String(job.nonce)],
    ['failures', String(job.failures)],
    ['next', job.nextMs > Date.now() ? new Date(job.nextMs).toISOString() : 'now'],
    ['included', included ? `${included.hash} in block ${included.block}` : '-'],
    ...job.txs.map(txLine),
  ]
  for (const [what, text] of lines) console.log(`${what.padEnd(9)} ${text}`)
}

function txLine(tx: JobTx): [string, string] {
  if ('lastValidHeight' in tx) return ['tx', `${tx.hash}, valid up to block height ${tx.lastValidHeight}`]
  const { hash, purpose, maxFeePerGas, sentBlock } = tx
  const sent = sentBlock === null ? 'not sent yet' : `sent at block ${sentBlock}`
  return [purpose, `${hash}, up to ${maxFeePerGas} wei a gas, ${sent}`]
}

const dateOf = (ms: number): string => new Date(ms).toISOString()

const subjectOf = ({ subject }: JobRow): string | null => subject && toHex(subject)

function originOf({ message, payment }: JobRow): string {
  if (message) return `${toHex(message.txHash)} at ${new Date(message.sentMs).toISOString()}`
  if (!payment) return '-'
  const { reclaimableMs } = payment.target
  const outcome = payment.outcome ?? `reclaimable from ${dateOf(reclaimableMs)} on`
  return `${txText(payment)} at ${dateOf(payment.paidMs)}, ${outcome}`
}
