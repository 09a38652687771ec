import type { Schemas } from './types.js'

/** Codes of failures on this side, which no answer of a service can choose. */
const OWN_CODES = ['network', 'timeout', 'unexpected', 'log_mismatch', 'registry_mismatch'] as const

/** Codes of the service, and of failures on this side. */
type Code = Schemas['Error']['error'] | (typeof OWN_CODES)[number]
type Failure = Partial<Pick<ClusterdError, 'status' | 'retryAfterMs' | 'body' | 'cause'>>

/** Limited, unavailable, or a proxy whose service is away. */
const TRANSIENT = [429, 502, 503, 504]
/** Longest message of a service that an error repeats. */
const MOST_MESSAGE = 500
/** A clock that is wrong may make a date of Retry-After any. */
const MAX_PAUSE_MS = 60_000

/** Every failure of a call: an error that the service answered, or no answer. */
export class ClusterdError extends Error {
  override name = 'ClusterdError'
  /** HTTP status, 0 where there was no answer. */
  readonly status: number
  /** Time after which the service wants to be asked again, milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The answer's body. */
  readonly body: unknown
  /** @param code of the interface (`not_found`, …), `network`, `timeout` or `unexpected` */
  constructor(
    readonly code: Code | (string & {}),
    message: string,
    { status = 0, retryAfterMs, body, cause }: Failure = {},
  ) {
    super(message, { cause })
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.body = body
  }

  /** Tells whether the same request may have an answer a little later. */
  get isTransient(): boolean {
    return TRANSIENT.includes(this.status) || this.code === 'network'
  }
}

/** Error of an answer with another status than 200. */
export function errorOf({ status, headers }: Response, body: unknown): ClusterdError {
  const { error, message } = Object(body) as Record<string, unknown>
  const isOwn = (OWN_CODES as readonly unknown[]).includes(error)
  const code = typeof error === 'string' && !isOwn ? error : 'unexpected'
  const text =
    typeof message === 'string'
      ? message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, MOST_MESSAGE)
      : `The service answered ${status}, as clusterd does not.`
  return new ClusterdError(code, text, { status, retryAfterMs: retryAfterOf(headers), body })
}

/** Milliseconds of a Retry-After header (RFC 9110, 10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** @throws ClusterdError network, for a `fetch` that failed */
export function unreachable(cause: unknown): never {
  throw new ClusterdError('network', 'The service can not be reached.', { cause })
}

/** Pause that an outage asks for. @throws the error where it is no outage */
export function pauseAfter(error: unknown): number {
  const isOutage = error instanceof ClusterdError && (error.isTransient || error.code === 'timeout')
  if (!isOutage) throw error
  return Math.min(error.retryAfterMs ?? 0, MAX_PAUSE_MS)
}
