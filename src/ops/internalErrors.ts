import { alarmLogFields, INTERNAL_ERROR_ALARM_MS, type ProblemWithAlarm } from './alarms.js'
import { errorSentence } from './logger/errors.js'
import type { Logger } from './logger/logger.js'
import { createThrottle } from './throttle.js'

/** Name of a loop, or of another part of the process, in health, status and metrics. */
export interface ProcessPart {
  name: string
  network?: string
  chain?: string
}

/** Time for which a repeated error of one loop or part is not logged again, ms. */
const LOG_AGAIN_MS = 10 * 60_000

/** Count of the errors of our own code in one loop or part of the process. */
export interface InternalErrorCount extends ProcessPart {
  /** Number of errors since the start of the process. */
  count: number
  /** Time since the last error, ms. */
  ageMs: number
  lastError: string
}

/** Errors of one loop or part of the process. */
interface PartErrors {
  at: ProcessPart
  count: number
  lastMs: number
  lastError: string
  /** True for an error's message that was not logged lately. */
  isNews(message: string): boolean
}

/** Counts errors of our own code. */
export class InternalErrorCounter {
  readonly #nowMs: () => number
  readonly #parts = new Map<string, PartErrors>()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * Counts an error, and logs it with its stack. For `LOG_AGAIN_MS`, an error with the same message is logged at level
   * `debug`.
   * @param at the loop, or another part of the process, that caught the error
   * @param fields further fields of the log line, about the work that failed
   */
  report(at: ProcessPart, error: unknown, log: Logger, fields: object = {}): void {
    const nowMs = this.#nowMs()
    const lastError = errorSentence(error)
    const place = this.#partOf(at)
    place.count += 1
    place.lastMs = nowMs
    place.lastError = lastError

    const { name, ...where } = at
    const line = { ...where, ...fields, loop: name, err: error }
    if (place.isNews(lastError))
      log.error({ ...line, ...alarmLogFields('ClusterdOwnErrors') }, 'an error of our own code')
    else log.debug(line, 'an error of our own code again')
  }

  counts(): InternalErrorCount[] {
    const nowMs = this.#nowMs()
    return [...this.#parts.values()].map(({ at, count, lastMs, lastError }) => ({
      ...at,
      count,
      ageMs: nowMs - lastMs,
      lastError,
    }))
  }

  #partOf(at: ProcessPart): PartErrors {
    const key = [at.name, at.network, at.chain].join(' ')
    const known = this.#parts.get(key)
    if (known) return known
    const isNews = createThrottle(LOG_AGAIN_MS, this.#nowMs)
    const place = { at, count: 0, lastMs: 0, lastError: '', isNews }
    this.#parts.set(key, place)
    return place
  }
}

/** A problem for each loop or part whose last error is recent enough for the alarm. */
export function internalErrorProblems(counts: readonly InternalErrorCount[]): ProblemWithAlarm[] {
  const recent = counts.filter(({ ageMs }) => ageMs < INTERNAL_ERROR_ALARM_MS)
  return recent.map(({ name, network, chain, count, lastError }) => {
    const where = [name, network, chain].filter(Boolean).join(', ')
    const text = `errors of our own code in ${where}: ${count}, the last one ${lastError}`
    return { alarm: 'ClusterdOwnErrors', text, network, chain, subject: name }
  })
}
