import { performance } from 'node:perf_hooks'
import type { Problem } from './alarms.js'
import { LastMinuteSums } from './lastMinute.js'
import { errorSentence } from './log/errors.js'

/** Number of failed requests of a kind, and their share of all, from which they are a problem. */
const LEAST_FAILED = 3
export const ALARM_SHARE = 0.5

interface Counted {
  method: string
  route: string
  requests: LastMinuteSums<'all' | 'failed'>
  /** Sentence of the newest failure. */
  lastError: string
}

/** Counts the requests of the last minute by kind, for `/status` and the metrics. */
export class FailedRequests {
  readonly #nowMs: () => number
  /** By method and route pattern, so the number of kinds is limited. */
  readonly #kinds = new Map<string, Counted>()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** @param failure error of a failed request; undefined for a successful one */
  count({ method, route }: { method: string; route: string }, failure?: unknown): void {
    const key = `${method} ${route}`
    const found = this.#kinds.get(key)
    const kind = found ?? { method, route, requests: new LastMinuteSums(), lastError: '' }
    this.#kinds.set(key, kind)

    const nowMs = this.#nowMs()
    kind.requests.add('all', 1, nowMs)
    if (failure === undefined) return
    kind.requests.add('failed', 1, nowMs)
    kind.lastError = errorSentence(failure)
  }

  /**
   * Kinds of which at least three requests failed in the last minute. `share` is the failed part of all requests of the
   * kind.
   */
  shares(): { method: string; route: string; failed: number; all: number; share: number }[] {
    const nowMs = this.#nowMs()
    return [...this.#kinds.values()].flatMap(({ method, route, requests }) => {
      const all = requests.sum('all', nowMs)
      const failed = requests.sum('failed', nowMs)
      return failed < LEAST_FAILED ? [] : [{ method, route, failed, all, share: failed / all }]
    })
  }

  /** A problem for each kind of which more than half failed, with the newest cause. */
  problems(): Problem[] {
    const failing = this.shares().filter(({ share }) => share > ALARM_SHARE)
    return failing.map(({ method, route, failed, all }) => {
      const why = this.#kinds.get(`${method} ${route}`)!.lastError
      const text = `${failed} of ${all} requests ${method} ${route} failed in the last minute, the newest by: ${why}`
      return { alarm: 'ClusterdErrors', text }
    })
  }
}
