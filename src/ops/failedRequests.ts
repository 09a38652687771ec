import { performance } from 'node:perf_hooks'
import type { ProblemWithAlarm } from './alarms.js'
import { LastMinuteSums } from './lastMinute.js'
import { errorSentence } from './log/errors.js'

/** Failed requests of a route are a problem from this number on, and above this share of the route's requests. */
const LEAST_FAILED = 3
export const FAILED_REQUESTS_ALARM_SHARE = 0.5

interface Counted {
  method: string
  route: string
  requests: LastMinuteSums<'all' | 'failed'>
  /** Sentence about the newest failure. */
  lastError: string
}

/** Counts requests and failures of the last minute by method and route, for `/status` and the metrics. */
export class FailedRequests {
  readonly #nowMs: () => number
  /** Counts by method and route pattern (not path), so the number of keys is limited. */
  readonly #kinds = new Map<string, Counted>()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Counts a request. @param failure error of a failed request; undefined for a successful request */
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
   * Methods and routes of which at least three requests failed in the last minute. `share` is the failed part of all
   * their requests.
   */
  shares(): { method: string; route: string; failed: number; all: number; share: number }[] {
    const nowMs = this.#nowMs()
    return [...this.#kinds.values()].flatMap(({ method, route, requests }) => {
      const all = requests.sum('all', nowMs)
      const failed = requests.sum('failed', nowMs)
      return failed < LEAST_FAILED ? [] : [{ method, route, failed, all, share: failed / all }]
    })
  }

  /** A problem for each method and route of which more than half of the requests failed, with the newest error. */
  problems(): ProblemWithAlarm[] {
    const failing = this.shares().filter(({ share }) => share > FAILED_REQUESTS_ALARM_SHARE)
    return failing.map(({ method, route, failed, all }) => {
      const why = this.#kinds.get(`${method} ${route}`)!.lastError
      const text = `${failed} of ${all} requests ${method} ${route} failed in the last minute, the newest by: ${why}`
      return { alarm: 'ClusterdErrors', text }
    })
  }
}
