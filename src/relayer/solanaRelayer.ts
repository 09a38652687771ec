import PQueue from 'p-queue'
import type { PaymentDecision, SolanaSigner } from '../chains/solana/signer.js'
import { findDueSolanaJobs } from '../db/outbox/due.js'
import { inRelayerTransaction, saveJobs } from '../db/outbox/jobs.js'
import { queuePayouts } from '../db/outbox/payouts.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { ChainRowKey } from '../db/pg/rows.js'
import { failpoint } from '../ops/failpoint.js'
import { isInternalError } from '../ops/logger/errors.js'
import { NATIVE_COIN } from '../registry/community/rules.js'
import { SOLANA } from '../registry/families.js'
import { type SolanaJobTx, WAITS_FOR_FUNDS } from '../registry/outbox.js'
import { ChainRelayer, type ChainRelayerOptions, jobLogFields } from './chainRelayer.js'
import { groupJobs } from './groups.js'
import {
  type JobPaymentState,
  paymentStateOfJob,
  planSolanaJobStep,
  type SolanaJobSnapshot,
} from './machine/blockhash.js'
import { applyJobEvent, type JobDecisionContext, type JobEvent } from './machine/index.js'
import { EMPTY_ACCOUNT_RENT_LAMPORTS } from './relayerState.js'
import type { RelayerChain } from './run.js'

const MAX_PARALLEL_TRANSACTIONS = 4

export interface SolanaRelayerOptions extends ChainRelayerOptions {
  /** Number of the program's chain in the database. */
  chain: number
  /** Null without the relay authority's key: nothing is signed. */
  signer: SolanaSigner | null
  /** Age from which a payment that bought its community name is released, ms. Less where its holding time is short. */
  releaseAfterMs: number
}

type SolanaJobRow = JobRow<SolanaJobTx>
type SolanaJobRows = readonly SolanaJobRow[]

/** Runs the jobs of a Solana program, where a transaction is valid until its blockhash expires. */
export class SolanaRelayer extends ChainRelayer {
  protected readonly key: ChainRowKey | null
  readonly #options: SolanaRelayerOptions
  /** Number of job rows that the current step has stored. */
  #stored = 0

  constructor(options: SolanaRelayerOptions) {
    const { chain, signer } = options
    super(options, chain, {
      chain: SOLANA.label,
      unit: 'lamports',
      account: 'relay authority',
      stuck: null,
    })
    this.#options = options
    this.key = signer && this.place
  }

  get #signer(): SolanaSigner {
    return this.#options.signer!
  }

  protected async queue(): Promise<number> {
    const { pool, network, releaseAfterMs, epoch } = this.#options
    const { key } = this
    if (!key) return 0
    const nowMs = this.clock.nowMs()
    const order = { releaseAfterMs, nowMs }
    const queued = await inRelayerTransaction(pool, { network, epoch }, (client) =>
      queuePayouts(client, key, order),
    )
    if (queued > 0) failpoint('payout.queued')
    return queued
  }

  protected async advance(isBusy: boolean, alive: () => void): Promise<boolean> {
    if (!isBusy) return false
    this.#stored = 0
    const nowMs = this.clock.nowMs()
    const due = await findDueSolanaJobs(this.#options.pool, this.key!, nowMs, this.reportUnreadable)
    const isQueued = ({ state }: SolanaJobRow) => state === 'queued'
    const underWay = groupBySignedTx(due.filter((row) => !isQueued(row)))
    await this.guard({}, () => this.#followAll(underWay, alive))
    await this.#startAll(due.filter(isQueued), alive)
    return this.#stored > 0
  }

  /**
   * Signs and sends queued jobs. If our own code fails, starts each job separately, so that one job's error does not
   * affect other jobs.
   */
  async #startAll(rows: SolanaJobRows, alive: () => void): Promise<void> {
    try {
      await this.#start(rows, alive)
    } catch (error) {
      const alone = isInternalError(error) && rows.length > 1 ? rows.map((row) => [row]) : []
      for (const row of alone) await this.guard(logFieldsOfJobs(row), () => this.#start(row, alive))
      if (alone.length === 0) await this.guard(logFieldsOfJobs(rows), () => Promise.reject(error))
    }
  }

  #guardAll(
    groups: readonly SolanaJobRows[],
    alive: () => void,
    work: (group: SolanaJobRows, i: number) => Promise<void>,
  ): Promise<unknown> {
    const queue = new PQueue({ concurrency: MAX_PARALLEL_TRANSACTIONS })
    return queue.addAll(
      groups.map((group, i) => async () => {
        await this.guard(logFieldsOfJobs(group), () => work(group, i))
        alive()
      }),
    )
  }

  async #followAll(groups: readonly SolanaJobRows[], alive: () => void): Promise<void> {
    if (groups.length === 0) return
    const { slot, statuses, ...heights } = await this.#signer.statuses(
      groups.map((group) => group[0]!.txs[0]!.hash),
    )
    const nowMs = this.clock.nowMs()
    await this.#guardAll(groups, alive, async (group, i) => {
      const unchangedMs = Math.abs(nowMs - group[0]!.updatedMs)
      const seen = { ...heights, unchangedMs, status: statuses[i] ?? null, payment: null }
      if (await this.#act(group, seen)) return
      // the action depends on the payments: reads them in the slot of the statuses or a later one
      const views = await this.#readPaymentStates(group, slot)
      for (const [at, row] of group.entries())
        await this.#act([row], { ...seen, payment: views[at]! })
    })
  }

  /** Executes the plan of jobs that share a transaction. @returns false where the payments must be read first */
  async #act(rows: SolanaJobRows, seen: SolanaJobSnapshot): Promise<boolean> {
    const action = planSolanaJobStep(rows[0]!, seen)
    if (action.do === 'look') return false
    if (action.do === 'record') await this.#save(rows, action.event)
    if (action.do === 'broadcast') await this.#broadcast(rows, action.tx)
    if (action.do === 'sign') await this.#sign(rows)
    return true
  }

  /**
   * Signs and sends transactions for payments that are still held, as many as the balance pays fees for. Jobs of other
   * held payments wait for funds. Jobs whose payment is no longer held are confirmed, parked, or tried again later.
   */
  async #start(rows: SolanaJobRows, alive: () => void): Promise<void> {
    if (rows.length === 0) return
    const views = await this.#readPaymentStates(
      rows,
      Math.max(...rows.map(({ payment }) => payment!.block)),
    )
    const each = rows.map((row) => [row])
    await this.#guardAll(each, alive, async (row, i) => {
      if (views[i]!.is !== 'held') await this.#act(row, { ...NO_TX_STATUS, payment: views[i]! })
    })
    const groups = groupJobs(
      rows.filter((_, i) => views[i]!.is === 'held'),
      SOLANA_TX_CAPACITY,
    )
    if (groups.length === 0) return
    const { maxFee } = this.#signer
    const affordable = Number(((await this.readBalance()) - EMPTY_ACCOUNT_RENT_LAMPORTS) / maxFee)
    await this.#guardAll(groups, alive, async (group, i) => {
      if (i < affordable) await this.#act(group, { ...NO_TX_STATUS, payment: HELD_PAYMENT_STATE })
      else
        await this.#save(group, {
          is: 'failed',
          failure: { class: 'transient', reason: WAITS_FOR_FUNDS },
        })
    })
  }

  async #readPaymentStates(rows: SolanaJobRows, minSlot: number): Promise<JobPaymentState[]> {
    const areHeld = await this.#signer.areHeld(rows.map(paymentOf), minSlot)
    return rows.map(({ kind, payment }, i) =>
      paymentStateOfJob(kind, areHeld[i]!, payment!.outcome),
    )
  }

  /**
   * Signs one transaction for all jobs of the group. It is stored before it is sent: a restart sends the same bytes
   * again.
   */
  async #sign(rows: SolanaJobRows): Promise<void> {
    const { kind, failures } = rows[0]!
    const tx = await this.#signer.sign(kind as PaymentDecision, rows.map(paymentOf), failures)
    failpoint('payout.sign')
    const after = await this.#save(rows, { is: 'signed', nonce: null, tx })
    if (after) await this.#broadcast(after, tx)
  }

  async #broadcast(rows: SolanaJobRows, tx: SolanaJobTx): Promise<void> {
    const refusal = await this.#signer.send(tx.raw)
    failpoint('payout.broadcast')
    const { state, reason } = rows[0]!
    if (refusal === null && state !== 'sent') await this.#save(rows, { is: 'sent', hash: tx.hash })
    if (refusal !== null && reason !== refusal)
      await this.#save(rows, { is: 'refused', hash: tx.hash, reason: refusal })
  }

  /**
   * Stores an event for all jobs or for none.
   * @returns the jobs after the event; null where one of the jobs has changed meanwhile
   */
  async #save(rows: SolanaJobRows, event: JobEvent<SolanaJobTx>): Promise<SolanaJobRows | null> {
    const { pool, epoch, onOutcome } = this.#options
    const context: JobDecisionContext = { nowMs: this.clock.nowMs(), random: this.clock.random() }
    const changes = rows.map((job) => ({ job, after: applyJobEvent(job, event, context) }))
    const isSaved = await saveJobs(pool, changes, { epoch, nowMs: context.nowMs })
    failpoint(`payout.${event.is}`)
    if (!isSaved) return null
    this.#stored += rows.length
    const stored = changes.map(
      ({ job, after }): SolanaJobRow => ({ ...job, ...after, version: job.version + 1 }),
    )
    for (const row of stored) onOutcome?.(row, event.is)
    return stored
  }

  protected readBalance(): Promise<bigint> {
    return this.#signer.balance()
  }
}

const ADDRESS_BYTES = 32
const SEQUENCE_BYTES = 8
/** Bytes of a payment in a transaction: its accounts, their indexes in the instruction, and its sequence number. */
const paymentByteCount = ({ payment }: SolanaJobRow): number =>
  paymentAccountCount(payment) * (ADDRESS_BYTES + 1) + SEQUENCE_BYTES

/** Accounts that a payment adds to the instruction. */
function paymentAccountCount(payment: SolanaJobRow['payment']): number {
  if (payment?.target.kind !== 'communityName') return 2
  return payment.money.token === NATIVE_COIN ? 3 : 6
}

/**
 * Bytes for payments in a transaction of 1,232 bytes: the rest is for signature, fee payer, blockhash, six accounts of
 * the instruction and the compute budget.
 */
export const SOLANA_TX_CAPACITY = {
  of: () => 888,
  takenBy: paymentByteCount,
  isAlone: ({ failures }: SolanaJobRow) => failures > 0,
}

/** Groups jobs by the signed transaction that they share. */
function groupBySignedTx(rows: SolanaJobRows): SolanaJobRows[] {
  const groups = new Map<string, SolanaJobRow[]>()
  for (const row of rows) {
    const hash = row.txs[0]?.hash
    if (hash) groups.set(hash, [...(groups.get(hash) ?? []), row])
  }
  return [...groups.values()]
}

const logFieldsOfJobs = (rows: SolanaJobRows) => ({ jobs: rows.map(jobLogFields) })
const HELD_PAYMENT_STATE: JobPaymentState = { is: 'held' }
/** State of a job without a transaction. Heights and time do not matter then. */
const NO_TX_STATUS = { height: 0, agreedHeight: 0, unchangedMs: 0, status: null }
const paymentOf = ({ payment }: SolanaJobRow) => payment!

interface SolanaRelayerChainOptions
  extends Pick<SolanaRelayerOptions, 'signer' | 'releaseAfterMs'> {
  pollMs: number
  /**
   * Returns the program's chain number. Calls the chain if it was never reached before.
   * @throws ChainUnavailableError
   */
  open(): Promise<{ chain: number }>
}

/** Makes a network's Solana program one of the chains of `runRelayer`. */
export const createSolanaRelayerChain = ({
  pollMs,
  ...options
}: SolanaRelayerChainOptions): RelayerChain => ({
  label: SOLANA.label,
  followsOthers: true,
  pollMs,
  open: async (common) => new SolanaRelayer({ ...common, ...options, ...(await options.open()) }),
})
