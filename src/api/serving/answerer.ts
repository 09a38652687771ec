import type { Logger } from 'pino'
import type { FailedRequestCounter } from '../../ops/failedRequests.js'
import { createThrottle } from '../../ops/throttle.js'
import { type HttpMessage, sendResponse } from '../http/answer.js'
import type { ApiError } from '../http/errors.js'
import type { HttpExchange } from './exchange.js'

/** Time window in which equal faults are logged once, ms. The metrics count all faults. */
const FAULT_WINDOW_MS = 5_000

/**
 * Sends the response of a request and counts it.
 * @param extraHeaders further headers of the response: names and values in alternation
 */
export type ResponseSender = (
  exchange: HttpExchange,
  message: HttpMessage,
  extraHeaders: readonly string[],
  error?: ApiError,
) => void

export interface ResponseSenderDeps {
  log: Logger
  /**
   * Receives an error of our own code that led to a response of status 500.
   * @param about id, trace, method and route of the request
   */
  onInternalError?: (error: unknown, about: object) => void
  /** Counts requests that the service failed to serve. */
  failed?: Pick<FailedRequestCounter, 'count'>
  metrics?: {
    requests: {
      observe(labels: { method: string; route: string; status: string }, seconds: number): void
    }
    limited?: { inc(labels: { route: string; limit: string }): void }
  }
}

export function createResponseSender({
  log,
  metrics,
  onInternalError,
  failed,
}: ResponseSenderDeps): ResponseSender {
  const isFirstInWindow = createThrottle(FAULT_WINDOW_MS)
  return ({ req, res, id, trace, route, startedMs }, message, extraHeaders, error) => {
    sendResponse(res, message, ['x-request-id', id, ...extraHeaders])
    const ms = performance.now() - startedMs
    const { status } = message
    // Node's parser accepts only 34 methods, so this label has few values
    const method = req.method ?? ''
    metrics?.requests.observe({ method, route, status: String(status) }, ms / 1_000)
    if (error?.limit) metrics?.limited?.inc({ route, limit: error.limit })
    // an error such as "too many requests wait" has no cause: callers can provoke the error, and must not raise the
    // alarm
    failed?.count({ method, route }, status >= 500 ? error?.cause : undefined)
    const request = { id, trace, method, route }
    const cause = error?.cause ?? error
    if (status === 500) onInternalError?.(cause, request)
    if (status >= 500) {
      const name = cause instanceof Error ? cause.name : ''
      if (isFirstInWindow(`${method} ${route} ${status} ${name}`))
        log.warn({ ...request, status, err: cause }, 'a request could not be served')
    } else if (log.isLevelEnabled('debug'))
      log.debug({ ...request, status, ms: Math.round(ms * 10) / 10 }, 'request')
  }
}
