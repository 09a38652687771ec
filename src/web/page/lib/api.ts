import { ClusterdError } from '../../../client/error.js'
import { Transport } from '../../../client/transport.js'
import type { Method } from '../../../client/types.js'

const REQUEST_TIMEOUT_MS = 40_000
/** Shortest pause before a page asks again after an outage, ms. */
const OUTAGE_PAUSE_MS = 5_000

/** Pause before a page repeats a failed request, ms; null for an error after which the request is not repeated. */
export const outagePauseMs = (error: unknown): number | null =>
  error instanceof ClusterdError && (error.isTransient || CLIENT_SIDE_CODES.includes(error.code))
    ? Math.max(OUTAGE_PAUSE_MS, error.retryAfterMs ?? 0)
    : null

/** True if the service, or a proxy before it, answered 404. */
export const isNotFoundError = (error: unknown): boolean =>
  error instanceof ClusterdError && error.status === 404

const UNREACHABLE_TEXT = 'The service cannot be reached now.'
/** Codes of errors that the client makes itself, without an error response of the service. */
const CLIENT_SIDE_CODES = ['network', 'timeout', 'unexpected']

export interface ApiCallOptions {
  method?: Method
  isTestnet: boolean
  /** Authentication key. */
  token?: string | null | undefined
  body?: unknown
  signal?: AbortSignal | undefined
}

/** Path of the status of a registration. */
export const statusPath = (tx: string): string => `/v1/names/register/tx/${encodeURIComponent(tx)}`

/**
 * Calls the API. A 404 whose body is no error, as for an unknown address, is returned like a 200.
 * @throws ClusterdError; the signal's reason
 */
export async function callApi<T>(
  path: string,
  { method, isTestnet, token, body, signal }: ApiCallOptions,
): Promise<T> {
  const options = {
    url: location.origin,
    testnet: isTestnet,
    timeoutMs: REQUEST_TIMEOUT_MS,
    retries: 0,
  }
  const transport = new Transport({ ...options, ...(token && { token }) })
  try {
    return (await transport.call(method ?? (body === undefined ? 'GET' : 'POST'), path, {
      body,
      signal,
    })) as T
  } catch (error) {
    if (!(error instanceof ClusterdError)) throw error
    const { code, status, body: answer } = error
    if (status === 404 && answer && typeof answer === 'object' && !('error' in answer))
      return answer as T
    if (CLIENT_SIDE_CODES.includes(code))
      throw new ClusterdError(code, UNREACHABLE_TEXT, { status })
    throw withDetails(error)
  }
}

/** Adds the reasons why fields were refused to an error's message. Visitors don't know the fields' names in the API. */
function withDetails(error: ClusterdError): ClusterdError {
  const { message, details } = Object(error.body) as {
    message: string
    details?: { message: string }[]
  }
  const more = new Set(details?.map((one) => one.message))
  if (more.size > 0) error.message = [message, ...more].join(' ')
  return error
}
