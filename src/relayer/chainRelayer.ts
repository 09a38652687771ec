import type pg from 'pg'
import { hasLiveJobs, wakeJobs } from '../db/outbox/due.js'
import { countRefusedNames } from '../db/outbox/payouts.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { ChainKey } from '../db/pg/rows.js'
import type { LeaderContext } from '../ops/context.js'
import { isOwnError } from '../ops/log/errors.js'
import type { StepResult } from '../ops/worker.js'
import type { RelayerState } from './relayerKind.js'
import type { Clock, Outcome } from './step.js'

const STATS_EVERY_MS = 5_000
/** Strangers may cause many refusals, among which the query looks for ours. */
const REFUSED_NAMES_EVERY_MS = 60_000

export interface ChainRelayerOptions extends Pick<LeaderContext, 'pool' | 'network' | 'epoch'> {
  clock?: Clock | undefined
  /** Gets each change of each job, with what is stored after it. */
  onOutcome?: ((row: JobRow, outcome: Outcome) => void) | undefined
  /** Gets why the chain could not be asked about a job. */
  onUnreachable?: ((row: JobRow, error: Error) => void) | undefined
  /**
   * Gets errors of our own code, with what was being worked on. Without it the step throws the first, after all else
   * was done.
   */
  onOwnError?: ((error: unknown, about: object) => void) | undefined
}

/** A job in the report of an error. */
export const aboutJob = ({ id, kind, nonce }: Pick<JobRow, 'id' | 'kind' | 'nonce'>) => ({
  job: id,
  kind,
  nonce,
})

/**
 * Runs the jobs of one chain in the network's leading process. A family of chains says what is due, how a transaction
 * is signed, sent and followed, and how it expires: by its nonce or its blockhash.
 */
export abstract class ChainRelayer<State extends RelayerState> {
  abstract readonly state: State
  /** The chain whose jobs are followed. */
  protected abstract readonly place: ChainKey
  /** The chain whose jobs are done, null where there is no key: nothing is signed. */
  protected abstract readonly key: ChainKey | null
  protected readonly clock: Clock
  readonly #pool: pg.Pool
  readonly #onOwnError: ChainRelayerOptions['onOwnError']
  #errors: unknown[] = []
  #statsAtMs = Number.NEGATIVE_INFINITY
  #refusedNamesAtMs = Number.NEGATIVE_INFINITY

  constructor({ pool, clock, onOwnError }: ChainRelayerOptions) {
    this.#pool = pool
    this.#onOwnError = onOwnError
    this.clock = clock ?? { nowMs: Date.now, random: Math.random }
  }

  /**
   * Does the work of one job, so that its error costs the other jobs nothing. An error of our own code is reported;
   * the step throws any other at its end.
   * @param about what is worked on, for the report
   * @returns null where it failed
   */
  protected async guard<T>(about: object, work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (this.#onOwnError && isOwnError(error)) this.#onOwnError(error, about)
      else this.#errors.push(error)
      return null
    }
  }

  /** Sets a job aside whose row can not be read: the others go on. */
  protected readonly setAside = (error: unknown, about: object): void =>
    void this.guard(about, () => {
      throw error
    })

  /** Queues what is due, each job once. @returns how many jobs it changed */
  protected abstract queue(): Promise<number>
  /**
   * Follows what is sent, signs and sends.
   * @param isBusy whether there is a job
   * @returns whether something was stored
   */
  protected abstract advance(isBusy: boolean, alive: () => void): Promise<boolean>
  /** Reads what the database tells of the jobs into the state. */
  protected abstract takeStats(): Promise<void>
  /** Balance of the account that pays. */
  protected abstract readBalance(): Promise<bigint>
  /** True if something is waited for, though no job is under way. */
  protected isWaiting(): boolean {
    return false
  }

  /**
   * Runs one step, without timers.
   * @param alive called after each transaction: a chain that hangs may take the time limit of a step for a few
   * @returns `progressed` when something was stored, so there may be more to do now
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  async step(alive: () => void = () => {}): Promise<StepResult> {
    let hasStored = false
    let isBusy = false
    this.#errors = []
    // stock is taken where the chain is away, too: its jobs wait
    try {
      hasStored = (await this.queue()) > 0
      isBusy = this.key !== null && (await hasLiveJobs(this.#pool, this.key))
      if (this.key && (await this.advance(isBusy, alive))) hasStored = true
    } finally {
      if (hasStored || Math.abs(this.clock.nowMs() - this.#statsAtMs) >= STATS_EVERY_MS)
        await this.#takeStats()
    }
    if (this.#errors.length > 0) throw this.#errors[0]
    if (hasStored) return 'progressed'
    return isBusy || this.isWaiting() ? 'waiting' : 'idle'
  }

  /** Takes stock. The first balance, and a higher one, lets go on what waits for funds. */
  async #takeStats(): Promise<void> {
    const nowMs = this.clock.nowMs()
    // the clock was set back: what it put off goes on with the next balance
    if (nowMs < this.#statsAtMs) this.state.balance = null
    this.#statsAtMs = nowMs
    await this.takeStats()
    if (Math.abs(nowMs - this.#refusedNamesAtMs) >= REFUSED_NAMES_EVERY_MS) {
      this.state.refusedNames = await countRefusedNames(this.#pool, this.place, nowMs)
      this.#refusedNamesAtMs = nowMs
    }
    if (!this.key) return
    const before = this.state.balance
    const balance = await this.readBalance()
    if (before === null || balance > before) await wakeJobs(this.#pool, this.key, nowMs)
    this.state.balance = balance
  }
}
