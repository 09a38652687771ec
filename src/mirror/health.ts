import { ClusterdError } from '../client/error.js'
import type { ProblemWithAlarm } from '../ops/alarms.js'
import { errorSentence } from '../ops/logger/errors.js'

/** Time without a successful step after which a mirror counts as behind its source, even without an error. */
const BEHIND_LIMIT_MS = 60_000

/** Health of a mirror: whether the mirror keeps up with its source. */
export class MirrorHealth {
  readonly #name: string
  readonly #nowMs: () => number
  #failure: Error | null = null
  /** Time of the last successful step. Before the first successful step: the time of the start. */
  #succeededMs: number

  /**
   * @param name the mirror's name, with which the text of a problem begins
   * @param nowMs a monotonic clock
   */
  constructor(name: string, nowMs = () => performance.now()) {
    this.#name = name
    this.#nowMs = nowMs
    this.#succeededMs = nowMs()
  }

  succeeded = (): void => {
    this.#failure = null
    this.#succeededMs = this.#nowMs()
  }

  failed = (error: Error): void => {
    this.#failure = error
  }

  /** Why nothing is mirrored from the source: the last failure, or no success for `BEHIND_LIMIT_MS`. Null otherwise. */
  problem(): ProblemWithAlarm | null {
    if (this.#failure)
      return {
        alarm: alarmOfFailure(this.#failure),
        text: `${this.#name}: ${errorSentence(this.#failure)}`,
      }
    const ageMs = this.#nowMs() - this.#succeededMs
    if (ageMs < BEHIND_LIMIT_MS) return null
    const text = `${this.#name}: nothing was taken in for ${Math.floor(ageMs / 1_000)} s: the source is slow, or its log does not end`
    return { alarm: 'ClusterdMirrorBehind', text }
  }
}

const alarmOfFailure = (error: Error) =>
  error instanceof ClusterdError && error.code === 'log_mismatch'
    ? 'ClusterdMirrorRefused'
    : 'ClusterdMirrorBehind'
