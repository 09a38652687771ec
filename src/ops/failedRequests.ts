import { performance } from 'node:perf_hooks'
import {
  FAILED_REQUESTS_ALARM_SHARE,
  LEAST_FAILED_REQUESTS,
  type ProblemWithAlarm,
} from './alarms.js'
import { LastMinuteSums } from './lastMinute.js'
import { errorSentence } from './logger/errors.js'

/** Counts of one method and route. */
interface RouteCounts {
  method: string
  route: string
  requests: LastMinuteSums<'all' | 'failed'>
  /** Sentence about the newest failure. */
  lastError: string
}

/** A method and route of which at least `LEAST_FAILED_REQUESTS` requests failed in the last minute. */
export interface FailedRoute {
  method: string
  route: string
  failed: number
  all: number
  /** Sentence about the newest failure. */
  lastError: string
}

/** Counts requests and failures of the last minute by method and route. */
export class FailedRequestCounter {
  readonly #nowMs: () => number
  /** Counts by method and route pattern (not path), so the number of keys is limited. */
  readonly #routes = new Map<string, RouteCounts>()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Counts a request. @param failure error of a failed request; undefined for a successful request */
  count({ method, route }: { method: string; route: string }, failure?: unknown): void {
    const key = `${method} ${route}`
    const known = this.#routes.get(key)
    const kind = known ?? { method, route, requests: new LastMinuteSums(), lastError: '' }
    this.#routes.set(key, kind)

    const nowMs = this.#nowMs()
    kind.requests.add('all', 1, nowMs)
    if (failure === undefined) return
    kind.requests.add('failed', 1, nowMs)
    kind.lastError = errorSentence(failure)
  }

  /** Methods and routes of which at least `LEAST_FAILED_REQUESTS` requests failed in the last minute. */
  routes(): FailedRoute[] {
    const nowMs = this.#nowMs()
    return [...this.#routes.values()].flatMap(({ method, route, requests, lastError }) => {
      const all = requests.sum('all', nowMs)
      const failed = requests.sum('failed', nowMs)
      return failed < LEAST_FAILED_REQUESTS ? [] : [{ method, route, failed, all, lastError }]
    })
  }
}

/** A problem for each method and route of which more than half of the requests failed, with the newest error. */
export const failedRequestProblems = (routes: readonly FailedRoute[]): ProblemWithAlarm[] =>
  routes
    .filter(({ failed, all }) => failed / all > FAILED_REQUESTS_ALARM_SHARE)
    .map(({ method, route, failed, all, lastError }) => ({
      alarm: 'ClusterdErrors',
      text: `${failed} of ${all} requests ${method} ${route} failed in the last minute, the newest by: ${lastError}`,
      subject: `${method} ${route}`,
    }))
