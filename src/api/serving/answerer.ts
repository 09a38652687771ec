import type { Logger } from 'pino'
import type { FailedRequests } from '../../ops/failedRequests.js'
import { createFaultLog } from '../guard/faultLog.js'
import { type HttpMessage, sendResponse } from '../http/answer.js'
import { ApiError, ERROR_STATUS } from '../http/errors.js'
import type { HttpExchange } from './exchange.js'

/**
 * Sends the response of a request and counts it.
 * @param fields further headers of the response: names and values in alternation
 */
export type ResponseSender = (
  exchange: HttpExchange,
  message: HttpMessage,
  fields: readonly string[],
  error?: unknown,
) => void

export interface ResponseSenderDeps {
  log: Logger
  /** Receives an error of our own code that led to a response of status 500, with a description of the request. */
  onOwnError?: (error: unknown, about: object) => void
  /** Counts requests that the service failed to serve. */
  failed?: Pick<FailedRequests, 'count'>
  metrics?: {
    requests: {
      observe(labels: { method: string; route: string; status: string }, seconds: number): void
    }
    limited?: { inc(labels: { route: string; limit: string }): void }
  }
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])

export function createResponseSender({
  log,
  metrics,
  onOwnError,
  failed,
}: ResponseSenderDeps): ResponseSender {
  const logFault = createFaultLog(log)
  return ({ req, res, id, trace, route, startedMs }, message, fields, error) => {
    sendResponse(res, message, ['x-request-id', id, ...fields])
    const ms = performance.now() - startedMs
    const { status } = message
    const method = KNOWN_METHODS.has(req.method ?? '') ? (req.method ?? '') : 'other'
    metrics?.requests.observe({ method, route, status: String(status) }, ms / 1_000)
    if (error instanceof ApiError && error.limit)
      metrics?.limited?.inc({ route, limit: error.limit })
    const cause = causeOf(error)
    failed?.count({ method, route }, isFailure(error) ? cause : undefined)
    if (status === 500) onOwnError?.(cause, { id, trace, method, route })
    if (status >= 500) logFault({ id, trace, method, route, status, err: cause })
    else if (log.isLevelEnabled('debug'))
      log.debug({ id, trace, method, route, status, ms: Math.round(ms * 10) / 10 }, 'request')
  }
}

const causeOf = (error: unknown): unknown =>
  error instanceof ApiError ? (error.cause ?? error) : error

/**
 * True where the service could not serve the request. A response like "too many requests wait" is no failure: callers
 * can provoke it, and must not raise the alarm.
 */
const isFailure = (error: unknown): boolean =>
  error instanceof ApiError && ERROR_STATUS[error.code] >= 500 && error.cause !== undefined
