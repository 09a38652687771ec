import type pg from 'pg'
import { endJobBackoffs, hasActiveJobs } from '../db/outbox/due.js'
import { countWronglyRefusedPayments } from '../db/outbox/payouts.js'
import type { JobRow } from '../db/outbox/rows.js'
import { countOpenJobs } from '../db/outbox/stats.js'
import type { ChainRowKey } from '../db/pg/rows.js'
import type { LeaderContext } from '../ops/context.js'
import { isInternalError } from '../ops/logger/errors.js'
import type { StepResult } from '../ops/worker.js'
import type { RelayerIdentity, RelayerState } from './relayerState.js'
import type { JobStepOutcome, RelayerClock } from './step.js'

const STATS_INTERVAL_MS = 5_000
/**
 * Interval of costly reads, ms: calls to a chain on which no job waits, and the query for refused payments whose names
 * are registered. The query is slow, since strangers may cause many refusals.
 */
export const COSTLY_READ_INTERVAL_MS = 60_000

export interface ChainRelayerOptions extends Pick<LeaderContext, 'pool' | 'network' | 'epoch'> {
  clock?: RelayerClock | undefined
  /** Called with each outcome of a job's step and the job's stored row. On Solana only with changes of the job. */
  onOutcome?: ((row: JobRow, outcome: JobStepOutcome) => void) | undefined
  /** Called with each error of a node during the step of a job on an EVM chain. */
  onNodeError?: ((row: JobRow, error: Error) => void) | undefined
  /**
   * Called with each error of our own code, and with log fields that name the job or the nonce. Without this callback,
   * such errors are collected like others, and the step throws the first one at its end.
   */
  onInternalError?: ((error: unknown, about: object) => void) | undefined
}

export const jobLogFields = ({ id, kind, nonce }: Pick<JobRow, 'id' | 'kind' | 'nonce'>) => ({
  job: id,
  kind,
  nonce,
})

/**
 * Runs the jobs of one chain in the network's leading process. A subclass for each chain family defines which jobs are
 * due, how a transaction is signed, sent and followed, and how a transaction expires: by its nonce or by its blockhash.
 */
export abstract class ChainRelayer {
  readonly state: RelayerState
  /** The chain whose jobs are queued and counted, also without a signing key. */
  protected readonly place: ChainRowKey
  /** The chain whose jobs are executed. Null without a signing key: no job is executed. */
  protected abstract readonly key: ChainRowKey | null
  protected readonly clock: RelayerClock
  /** Interval at which the chain is called while no job waits, ms. */
  protected quietMs = COSTLY_READ_INTERVAL_MS
  readonly #pool: pg.Pool
  readonly #onInternalError: ChainRelayerOptions['onInternalError']
  #errors: unknown[] = []
  #statsReadAtMs = Number.NEGATIVE_INFINITY
  #costlyReadAtMs = Number.NEGATIVE_INFINITY

  /** @param chain the chain's number in the database */
  constructor(
    { pool, network, clock, onInternalError }: ChainRelayerOptions,
    chain: number,
    identity: RelayerIdentity,
  ) {
    this.#pool = pool
    this.place = { network, chain }
    this.state = {
      network,
      ...identity,
      open: null,
      balance: null,
      signedToday: null,
      runwayMs: null,
      refusedNames: 0,
      nonceGaps: 0,
      nonceClaimed: null,
    }
    this.#onInternalError = onInternalError
    this.clock = clock ?? { nowMs: Date.now, random: Math.random }
  }

  /**
   * Runs the work of one job and catches its error, so that the step continues with other jobs. An error of our own
   * code goes to `onInternalError`. Other errors are collected, and the step throws the first one at its end.
   * @param about log fields for `onInternalError`
   * @returns null where the work failed
   */
  protected async guard<T>(about: object, work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (this.#onInternalError && isInternalError(error)) this.#onInternalError(error, about)
      else this.#errors.push(error)
      return null
    }
  }

  /** Reports the error of a job whose row can't be read. The job is skipped, so that other jobs continue. */
  protected readonly reportUnreadable = (error: unknown, about: object): void =>
    void this.guard(about, () => {
      throw error
    })

  /** Queues due jobs, each only once. On an EVM chain, also parks and ends jobs. @returns number of changed jobs */
  protected abstract queue(): Promise<number>
  /**
   * Follows sent transactions, and signs and sends the transactions of due jobs.
   * @param isBusy whether there is an unfinished job
   * @returns whether something was stored
   */
  protected abstract advance(isBusy: boolean, alive: () => void): Promise<boolean>
  /** Returns the paying account's balance. On chains where spending is counted, also stores the spending in `state`. */
  protected abstract readBalance(): Promise<bigint>

  /**
   * Runs one step, without timers.
   * @param alive called after each transaction: if nodes answer late, a few may take the step's time limit
   * @returns `progressed` when something was stored, so there may be more to do now
   * @throws ChainUnavailableError, LostLeadershipError or a database error, and without `onInternalError` an error of
   * our own code; the next step continues
   */
  async step(alive: () => void = () => {}): Promise<StepResult> {
    let hasStored = false
    let isBusy = false
    this.#errors = []
    let isCalled = true
    // reads statistics also while the chain is unavailable: the alarms about waiting jobs need them
    try {
      hasStored = (await this.queue()) > 0
      isBusy = this.key !== null && (await hasActiveJobs(this.#pool, this.key))
      const isDue = this.state.balance === null || this.#isPast(this.#costlyReadAtMs, this.quietMs)
      isCalled = hasStored || isBusy || this.state.nonceGaps > 0 || isDue
      if (this.key && isCalled && (await this.advance(isBusy, alive))) hasStored = true
    } finally {
      if (hasStored || this.#isPast(this.#statsReadAtMs, STATS_INTERVAL_MS))
        await this.#readStats(isCalled)
    }
    if (this.#errors.length > 0) throw this.#errors[0]
    if (hasStored) return 'progressed'
    return isBusy || this.state.nonceGaps > 0 ? 'waiting' : 'idle'
  }

  /** True if `ms` have passed since `sinceMs`, or if the clock was set back by as much. */
  #isPast(sinceMs: number, ms: number): boolean {
    return Math.abs(this.clock.nowMs() - sinceMs) >= ms
  }

  /**
   * Reads statistics and the balance. The first balance, and each higher balance, wakes jobs that wait for funds.
   * @param isCalled true if the step calls the chain, so that the balance is read too
   */
  async #readStats(isCalled: boolean): Promise<void> {
    const nowMs = this.clock.nowMs()
    // after the clock was set back, some back-offs end too late. With a null balance, the read below ends them.
    if (nowMs < this.#statsReadAtMs) this.state.balance = null
    this.#statsReadAtMs = nowMs
    this.state.open = await countOpenJobs(this.#pool, this.place, nowMs)
    if (this.#isPast(this.#costlyReadAtMs, COSTLY_READ_INTERVAL_MS)) {
      this.state.refusedNames = await countWronglyRefusedPayments(this.#pool, this.place, nowMs)
      this.#costlyReadAtMs = nowMs
    }
    if (!this.key || !isCalled) return
    const before = this.state.balance
    const balance = await this.readBalance()
    if (before === null || balance > before) await endJobBackoffs(this.#pool, this.key, nowMs)
    this.state.balance = balance
  }
}
