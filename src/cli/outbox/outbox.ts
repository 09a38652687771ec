import type pg from 'pg'
import { formatUnits } from 'viem'
import { listJobs, listRefunds, type Refund } from '../../db/outbox/list.js'
import { sendRefunds } from '../../db/outbox/payouts.js'
import type { JobRow } from '../../db/outbox/rows.js'
import { listSigners, moveNonce } from '../../db/outbox/signers.js'
import { notify } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import { NATIVE } from '../../registry/community/rules.js'
import { JOB_STATE, type JobState, type JobTx } from '../../registry/outbox.js'
import { paidNameText, txText } from '../../registry/payment/payment.js'
import { decodeAddress } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { actOnJob, type OperatorAction, requireJob } from '../../relayer/operatorActions.js'
import { withPool } from '../database.js'
import { duration, printFields, printJson, printList } from '../output.js'
import { addressOf, type NetworkOptions, networksOf } from '../values.js'

const DATABASE = { command: 'outbox', max: 1 }

interface Options extends NetworkOptions {
  all?: boolean
  json?: boolean
}

export interface ListOptions extends Options {
  refunds?: boolean
  state?: string
  limit: string
}

const STATES = Object.keys(JOB_STATE) as JobState[]
const MAX_LIMIT = 10_000
/** Enough of an id to tell it from all others. */
const SHORT_ID_CHARS = 18
const SOL_DECIMALS = 9

/** `clusterd outbox list`: jobs, or the refunds owed on Solana. @throws Error with one sentence for a bad option */
export async function list(options: ListOptions): Promise<void> {
  if (options.refunds) {
    const refunds = await withPool(DATABASE, (pool) => refundsOf(pool, options))
    return printRefunds(refunds, options)
  }
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new Error(`--limit is a whole number from 1 to ${MAX_LIMIT}.`)
  const { state, all } = options
  const states = STATES.filter((one) => (state === undefined ? all || one !== 'confirmed' : one === state))
  if (states.length === 0) throw new Error(`--state is one of ${STATES.join(', ')}.`)
  const jobs = await withPool(DATABASE, (pool) => listJobs(pool, { states, networks: networksOf(options), limit }))
  const nowMs = Date.now()
  printList(jobs, {
    ...{ json: options.json, none: 'No jobs.', describe },
    titles: ['ID', 'NETWORK', 'KIND', 'STATE', 'NONCE', 'FAILURES', 'AGE', 'NEXT', 'REASON', 'SUBJECT'],
    cells: (job) => [
      ...[job.id, job.network, job.kind, stateOf(job), job.nonce, job.failures, duration(nowMs - job.createdMs)],
      job.state === 'queued' && job.nextMs > nowMs ? `in ${duration(job.nextMs - nowMs)}` : null,
      ...[job.reason, subjectOf(job)?.replace(/(?<=^.{18}).*/, '…')],
    ],
  })
}

/** `clusterd outbox show <id>`. @throws Error with one sentence where there is no such job */
export async function show(id: string, { json }: Options): Promise<void> {
  printJob(await withPool(DATABASE, (pool) => requireJob(pool, id)), json)
}

/** `clusterd outbox retry | park | resume <id>`; a running daemon takes the change up at once. */
export async function change(action: OperatorAction, id: string, { json }: Options): Promise<void> {
  printJob(await withPool(DATABASE, (pool) => actOnJob(pool, action, id)), json)
}

/** State of a job, with the next one once nothing signed can count any more. */
const stateOf = ({ state, release }: JobRow): string =>
  release === null ? state : `${state}, to be ${release === 'queue' ? 'queued' : 'parked'}`

const subjectOf = ({ subject }: JobRow): string | null => subject && toHex(subject)
const dateOf = (ms: number): string => new Date(ms).toISOString()

/** A job as JSON: amounts as decimal text, bytes as hex. */
function describe(job: JobRow) {
  const { message, payment, signer, txs, ...rest } = job
  const plain = ({ raw: _, ...shown }: JobTx) => textOfBigints(shown)
  return {
    ...textOfBigints(rest),
    signer: signer && toHex(signer),
    subject: subjectOf(job),
    message: message && { tx: toHex(message.txHash), sentAt: dateOf(message.sentMs) },
    payment: payment && {
      tx: txText(payment),
      paidAt: dateOf(payment.paidMs),
      reclaimableAt: dateOf(payment.target.reclaimableMs),
      ...(payment.outcome && { outcome: payment.outcome }),
    },
    txs: txs.map(plain),
  }
}

const textOfBigints = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, typeof value === 'bigint' ? value.toString() : value]),
  )

const printJob = (job: JobRow, json: boolean | undefined): void => (json ? printJson(describe(job)) : printLines(job))

function printLines(job: JobRow): void {
  const { included } = job
  printFields({
    job: `${job.id} (${job.network}, ${job.kind})`,
    state: stateOf(job),
    reason: job.reason,
    subject: subjectOf(job),
    'sent by': originOf(job),
    value: `${job.valueWei} wei`,
    spent: `${job.spentWei} wei for gas`,
    signer: job.signer && toHex(job.signer),
    nonce: job.nonce,
    failures: job.failures,
    next: job.nextMs > Date.now() ? dateOf(job.nextMs) : 'now',
    included: included && `${included.hash} in block ${included.block}`,
  })
  for (const tx of job.txs) printFields(txFields(tx))
}

function txFields(tx: JobTx): Record<string, string> {
  if ('lastValidHeight' in tx) return { tx: `${tx.hash}, valid up to block height ${tx.lastValidHeight}` }
  const { hash, purpose, maxFeePerGas, sentBlock } = tx
  const sent = sentBlock === null ? 'not sent yet' : `sent at block ${sentBlock}`
  return { [purpose]: `${hash}, up to ${maxFeePerGas} wei a gas, ${sent}` }
}

function originOf({ message, payment }: JobRow): string | null {
  if (message) return `${toHex(message.txHash)} at ${dateOf(message.sentMs)}`
  if (!payment) return null
  const outcome = payment.outcome ?? `reclaimable from ${dateOf(payment.target.reclaimableMs)} on`
  return `${txText(payment)} at ${dateOf(payment.paidMs)}, ${outcome}`
}

/**
 * `clusterd outbox send <id> | --all`: has the running relayer pay back what is owed.
 * @throws Error with one sentence for an id that names no refund, or more than one
 */
export async function send(ids: readonly string[], options: Options): Promise<void> {
  if ((ids.length === 0) === (options.all !== true)) throw new Error('Name the refunds to send, or give --all.')
  const refunds = await withPool(DATABASE, async (pool) => {
    // a refusal needs nobody's word
    const owed = (await refundsOf(pool, { ...options, all: false })).filter(
      ({ payment }) => payment.target.kind === 'name',
    )
    const chosen = options.all ? owed : ids.map((id) => find(owed, id))
    for (const network of NETWORKS) {
      const payments = chosen.filter((one) => one.network === network).map(({ payment }) => payment.id)
      if (payments.length > 0) await sendRefunds(pool, network, payments, Date.now())
    }
    const sent = new Set(chosen.map(idOf))
    return (await refundsOf(pool, { ...options, all: true })).filter((refund) => sent.has(idOf(refund)))
  })
  printRefunds(refunds, options)
  if (!options.json && refunds.length > 0)
    console.log(
      '\nThe running daemon sends what is queued; `clusterd outbox list --refunds --all` shows how far it is.',
    )
}

function find(owed: readonly Refund[], id: string): Refund {
  const isId = /^0x[0-9a-f]{8,64}$/i.test(id)
  const found = isId ? owed.filter((refund) => idOf(refund).startsWith(id.toLowerCase())) : []
  if (found.length > 1) throw new Error(`${id} names ${found.length} refunds: give more of the id.`)
  if (!found[0]) throw new Error(`No refund ${id} is owed: \`clusterd outbox list --refunds\` shows them.`)
  return found[0]
}

const idOf = ({ payment }: Refund): string => toHex(payment.id)

const refundsOf = async (pool: pg.Pool, options: Options): Promise<Refund[]> =>
  (await Promise.all(networksOf(options).map((network) => listRefunds(pool, network, options.all ?? false)))).flat()

function printRefunds(refunds: readonly Refund[], { json }: Options): void {
  const nowMs = Date.now()
  printList(refunds, {
    ...{ json, none: 'No refunds are owed.', describe: describeRefund },
    titles: ['ID', 'NETWORK', 'AMOUNT', 'PAYER', 'NAME', 'CAUSE', 'STATE', 'AGE', 'REASON'],
    cells: ({ payment, network, cause, state, reason }) => [
      ...[toHex(payment.id).slice(0, SHORT_ID_CHARS), network],
      payment.money.token === NATIVE
        ? `${formatUnits(payment.money.amount, SOL_DECIMALS)} SOL`
        : `${payment.money.amount} ${payment.money.token}`,
      ...[decodeAddress(payment.payer).text, paidNameText(payment), cause, state ?? 'owed'],
      ...[duration(nowMs - payment.paidMs), reason],
    ],
  })
}

/** A refund as JSON: amounts as decimal text, ids as hex, signatures and keys in base58. */
function describeRefund(refund: Refund) {
  const { network, program, cause, state, reason, failures, refundTx } = refund
  const { sequence, payer, money, paidMs, target } = refund.payment
  return {
    ...{ id: idOf(refund), network, program, sequence, payer: decodeAddress(payer).text },
    ...{ kind: target.kind === 'name' ? 'refund' : 'refuse', name: paidNameText(refund.payment) },
    ...{ token: money.token, amount: money.amount.toString() },
    ...(money.token === NATIVE ? { lamports: money.amount.toString() } : {}),
    ...{ paidAt: dateOf(paidMs), tx: txText(refund.payment), cause, state: state ?? 'owed' },
    ...{ reason, failures, refundTx },
  }
}

/**
 * `clusterd outbox nonce [chain] [next]`: shows signers' next nonces, or sets one, which a running daemon takes up.
 * @throws Error with one sentence where no signer, or more than one, is meant, or where a job under way holds a later
 * nonce
 */
export async function nonce(
  chain: string | undefined,
  next: string | undefined,
  options: Options & { signer?: string },
): Promise<void> {
  const signers = await withPool(DATABASE, async (pool) => {
    const all = await listSigners(pool, networksOf(options))
    const wanted = options.signer === undefined ? null : addressOf('--signer', options.signer)
    const chosen = all.filter(
      ({ label, signer }) => (chain === undefined || label === chain) && (!wanted || signer.equals(wanted)),
    )
    if (next === undefined) return chosen
    const [row] = chosen
    if (!row || chosen.length > 1)
      throw new Error(`${chosen.length} signers are known on chain "${chain}": name one with --signer.`)
    if (!/^[0-9]{1,10}$/.test(next)) throw new Error('The next nonce is a whole number.')
    const to = Number(next)
    if (row.top !== null && to <= row.top)
      throw new Error(`A job under way holds nonce ${row.top}: the next one is above that.`)
    await inTransaction(pool, (client) => moveNonce(client, row, row.next, to))
    await notify(pool, row.network)
    return [{ ...row, next: to, claimed: null }]
  })
  printList(signers, {
    ...{ json: options.json, none: 'No signer has sent anything.' },
    describe: ({ network, label, signer, next, claimed }) => ({
      ...{ network, chain: label, signer: toHex(signer), next, claimed },
    }),
    titles: ['NETWORK', 'CHAIN', 'SIGNER', 'NEXT', 'CHAIN SAYS'],
    cells: ({ network, label, signer, next, claimed }) => [network, label, toHex(signer), next, claimed],
  })
}
