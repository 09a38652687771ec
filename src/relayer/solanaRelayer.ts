import PQueue from 'p-queue'
import type pg from 'pg'
import type { Decision, SolanaSigner } from '../chains/solana/signer.js'
import { assertRelayer } from '../db/journal/head.js'
import { dueBlockhashJobs, hasLiveJobs, wakeJobs } from '../db/outbox/due.js'
import { saveJobs } from '../db/outbox/jobs.js'
import { queuePayouts } from '../db/outbox/payouts.js'
import type { JobRow } from '../db/outbox/rows.js'
import { type OpenJobs, openJobs, owedRefunds } from '../db/outbox/stats.js'
import { inTransaction } from '../db/pg/pool.js'
import { failpoint } from '../ops/failpoint.js'
import type { StepResult } from '../ops/worker.js'
import type { BlockhashTx } from '../registry/outbox.js'
import type { Network } from '../registry/primitives/network.js'
import { batchesOf, type Group, groupsOf } from './groups.js'
import { type BlockhashSeen, type PaymentView, planBlockhashJob, viewOf } from './machine/blockhash.js'
import { apply, type Event, type Moment } from './machine/index.js'
import type { Clock, Outcome } from './step.js'

/** Transactions that are worked on at once. */
const CONCURRENCY = 4
const STATS_EVERY_MS = 5_000
/** Rent of an account without data, lamports: no fee may leave the authority less. */
const RENT_LAMPORTS = 890_880n

export interface SolanaRelayerOptions {
  pool: pg.Pool
  network: Network
  /** Number of the program's chain. */
  chain: number
  /** Null without the relay authority's key: nothing is signed. */
  signer: SolanaSigner | null
  /** Whether refunds are queued without an operator's word. */
  autoRefunds: boolean
  /** Age from which a payment for a community name whose registration is final is released, ms. */
  releaseAfterMs: number
  epoch: number
  clock?: Clock | undefined
  /** Gets each change of each job, with what is stored after it. */
  onOutcome?: ((row: Row, outcome: Pick<Outcome, 'outcome'>) => void) | undefined
}

export interface SolanaRelayerState {
  network: Network
  /** Jobs on the cluster, and refunds that nobody has queued. */
  stats: { open: readonly OpenJobs[]; owed: { count: number; lamports: bigint } } | null
  /** Balance of the relay authority. */
  balanceLamports: bigint | null
}

type Row = JobRow<BlockhashTx>

/** Runs the jobs of one program's payments with its relay authority, in the network's leading process. */
export class SolanaRelayer {
  readonly state: SolanaRelayerState
  readonly #options: SolanaRelayerOptions
  readonly #clock: Clock
  #statsAtMs = Number.NEGATIVE_INFINITY
  /** Changes of the current step. */
  #stored = 0
  #errors: unknown[] = []
  #alive = () => {}

  constructor(options: SolanaRelayerOptions) {
    this.#options = options
    this.#clock = options.clock ?? { nowMs: Date.now, random: Math.random }
    this.state = { network: options.network, stats: null, balanceLamports: null }
  }

  /**
   * Runs one step, without timers: queues due jobs, follows sent transactions, signs and sends.
   * @param alive called after each transaction: a cluster that hangs may take the time limit of a step for a few
   * @returns `progressed` when something was stored, so that there may be more to do now
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  async step(alive = () => {}): Promise<StepResult> {
    const { pool, network, chain, signer } = this.#options
    this.#alive = alive
    if (!signer) {
      await this.#takeStats(false)
      return 'idle'
    }
    this.#errors = []
    const nowMs = this.#clock.nowMs()
    this.#stored = await this.#queue(nowMs)
    const due = await dueBlockhashJobs(pool, { network, chain }, nowMs)
    await this.#guard(() => this.#followAll(signer, groupsOf(due)))
    await this.#guard(() =>
      this.#start(
        signer,
        due.filter(({ state }) => state === 'queued'),
      ),
    )
    await this.#takeStats(this.#stored > 0)
    if (this.#errors.length > 0) throw this.#errors[0]
    if (this.#stored > 0) return 'progressed'
    return due.length > 0 || (await hasLiveJobs(pool, { network, chain })) ? 'waiting' : 'idle'
  }

  async #queue(nowMs: number): Promise<number> {
    const { pool, network, chain, autoRefunds: refunds, releaseAfterMs, epoch } = this.#options
    const queued = await inTransaction(pool, async (client) => {
      await assertRelayer(client, network, epoch)
      return queuePayouts(client, { network, chain }, { refunds, releaseAfterMs, nowMs })
    })
    if (queued > 0) failpoint('payout.queued')
    return queued
  }

  /** Keeps one transaction's error from delaying the others; the step throws it at its end. */
  async #guard(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      this.#errors.push(error)
    })
  }

  #guardAll<T>(all: readonly T[], work: (one: T, i: number) => Promise<void>): Promise<unknown> {
    const queue = new PQueue({ concurrency: CONCURRENCY })
    const ended = () => this.#alive()
    return queue.addAll(all.map((one, i) => () => this.#guard(() => work(one, i)).then(ended)))
  }

  async #followAll(signer: SolanaSigner, groups: readonly Group[]): Promise<void> {
    if (groups.length === 0) return
    const { height, slot, statuses } = await signer.statuses(groups.map((group) => group[0]!.txs[0]!.hash))
    await this.#guardAll(groups, async (group, i) => {
      const seen = { height, status: statuses[i] ?? null, payment: null }
      if (!(await this.#act(signer, group, seen))) await this.#lookAgain(signer, group, { ...seen, slot })
    })
  }

  /** Reads the payments in a later slot, once nothing signed can land any more. */
  async #lookAgain(signer: SolanaSigner, rows: Group, seen: BlockhashSeen & { slot: number }): Promise<void> {
    const views = await this.#viewsOf(signer, rows, seen.slot)
    for (const [i, row] of rows.entries()) await this.#act(signer, [row], { ...seen, payment: views[i]! })
  }

  /**
   * Executes the plan of jobs that share a transaction.
   * @returns false where the payments must be read first
   */
  async #act(signer: SolanaSigner, rows: Group, seen: BlockhashSeen): Promise<boolean> {
    const action = planBlockhashJob(rows[0]!, seen)
    switch (action.do) {
      case 'look':
        return false
      case 'record':
        await this.#save(rows, action.event)
        return true
      case 'broadcast':
        await this.#broadcast(signer, rows, action.tx)
        return true
      case 'sign':
        await this.#sign(signer, rows)
        return true
      case 'wait':
        return true
    }
  }

  async #start(signer: SolanaSigner, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return
    const views = await this.#viewsOf(signer, rows, Math.max(...rows.map(({ payment }) => payment!.block)))
    await this.#guardAll(rows, async (row, i) => {
      if (views[i]!.is !== 'held') await this.#act(signer, [row], { ...NOT_SIGNED, payment: views[i]! })
    })
    const batches = batchesOf(rows.filter((_, i) => views[i]!.is === 'held'))
    await this.#affording(signer, batches, async (batch) => {
      await this.#act(signer, batch, { ...NOT_SIGNED, payment: HELD })
    })
  }

  async #viewsOf(signer: SolanaSigner, rows: Group, minSlot: number): Promise<PaymentView[]> {
    const areHeld = await signer.areHeld(rows.map(paymentOf), minSlot)
    return rows.map(({ kind, payment }, i) => viewOf(kind, areHeld[i]!, payment!.outcome))
  }

  /** Starts as many transactions as the balance has fees for. */
  async #affording(
    signer: SolanaSigner,
    groups: readonly Group[],
    start: (group: Group) => Promise<void>,
  ): Promise<void> {
    const affordable = groups.length > 0 ? feesIn(await signer.balance(), signer) : 0
    await this.#guardAll(groups, async (group, i) => {
      if (i < affordable) await start(group)
      else await this.#save(group, { is: 'failed', failure: { class: 'transient', reason: 'insufficient_funds' } })
    })
  }

  /** Stores what was signed, then sends it. */
  async #sign(signer: SolanaSigner, rows: Group): Promise<void> {
    const { kind, failures } = rows[0]!
    const tx = await signer.sign(kind as Decision, rows.map(paymentOf), failures)
    failpoint('payout.sign')
    const after = await this.#save(rows, { is: 'signed', nonce: null, tx })
    if (after) await this.#broadcast(signer, after, tx)
  }

  async #broadcast(signer: SolanaSigner, rows: Group, tx: BlockhashTx): Promise<void> {
    const refusal = await signer.send(tx.raw)
    failpoint('payout.broadcast')
    const { state, reason } = rows[0]!
    if (refusal === null && state !== 'sent') await this.#save(rows, { is: 'sent', hash: tx.hash })
    if (refusal !== null && reason !== refusal)
      await this.#save(rows, { is: 'refused', hash: tx.hash, failure: { class: 'transient', reason: refusal } })
  }

  /** Stores an event of jobs, of all or of none. @returns the jobs after it; null where one has changed meanwhile */
  async #save(rows: Group, event: Event<BlockhashTx>): Promise<Group | null> {
    const { pool, epoch, onOutcome } = this.#options
    const moment: Moment = { nowMs: this.#clock.nowMs(), random: this.#clock.random() }
    const changes = rows.map((job) => ({ job, after: apply(job, event, moment) }))
    const isSaved = await saveJobs(pool, changes, { epoch, nowMs: moment.nowMs })
    failpoint(`payout.${event.is}`)
    if (!isSaved) return null
    this.#stored += rows.length
    const stored = changes.map(({ job, after }): Row => ({ ...job, ...after, version: job.version + 1 }))
    for (const row of stored) onOutcome?.(row, { outcome: event.is })
    return stored
  }

  async #takeStats(isNews: boolean): Promise<void> {
    const { pool, network, chain, signer } = this.#options
    const nowMs = this.#clock.nowMs()
    if (!isNews && Math.abs(nowMs - this.#statsAtMs) < STATS_EVERY_MS) return
    // the clock was set back: what it put off goes on with the next balance
    if (nowMs < this.#statsAtMs) this.state.balanceLamports = null
    this.#statsAtMs = nowMs
    const [open, owed] = await Promise.all([openJobs(pool, network, 'solana'), owedRefunds(pool, network)])
    this.state.stats = { open, owed }
    if (!signer) return
    const before = this.state.balanceLamports
    const lamports = await signer.balance()
    // a higher balance lets go on what waits for fees
    if ((before === null || lamports > before) && feesIn(lamports, signer) > 0)
      await wakeJobs(pool, { network, chain }, nowMs)
    this.state.balanceLamports = lamports
  }
}

/** How many transactions a balance has fees for. */
const feesIn = (lamports: bigint, { maxFee }: SolanaSigner): number => Number((lamports - RENT_LAMPORTS) / maxFee)

const HELD: PaymentView = { is: 'held' }
const NOT_SIGNED = { height: 0, status: null }
const paymentOf = ({ payment }: Row) => payment!
