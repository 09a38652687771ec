import type { Schemas } from './types.js'

/** Error codes of failures on the client's side. */
const OWN_CODES = ['network', 'timeout', 'unexpected', 'log_mismatch', 'registry_mismatch'] as const

/** Error codes of the service, and of failures on the client's side. */
type Code = Schemas['Error']['error'] | (typeof OWN_CODES)[number]
type Failure = Partial<Pick<ClusterdError, 'status' | 'retryAfterMs' | 'body' | 'cause'>>

/** HTTP statuses of a rate limit, an outage, or a proxy whose service is down. */
const TRANSIENT = [429, 502, 503, 504]
/** Maximum length of a service's message that an error repeats. */
const MOST_MESSAGE = 500
/** Longest pause before the next try: with a wrong clock, a date in Retry-After may be far away. */
const MAX_PAUSE_MS = 60_000

/** Characters that change how a terminal or a page shows a text: control characters, and such as reverse its order. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu
const escaped = (character: string): string =>
  `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`

/** Every failure of a call: an error response, or no response. */
export class ClusterdError extends Error {
  override name = 'ClusterdError'
  /** HTTP status, 0 where there was no response. */
  readonly status: number
  /** Retry-After of the response, milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The response's body. */
  readonly body: unknown
  /** @param code error code of the HTTP API (`not_found`, …), or of the client (`network`, `timeout`, …) */
  constructor(
    readonly code: Code | (string & {}),
    message: string,
    { status = 0, retryAfterMs, body, cause }: Failure = {},
  ) {
    super(message.replaceAll(INVISIBLE, escaped), { cause })
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.body = body
  }

  /** Whether the same request may succeed a little later. */
  get isTransient(): boolean {
    return TRANSIENT.includes(this.status) || this.code === 'network'
  }
}

/** Error of a response whose status is not 2xx. */
export function errorOfResponse({ status, headers }: Response, body: unknown): ClusterdError {
  const { error, message } = Object(body) as Record<string, unknown>
  const isOwn = (OWN_CODES as readonly unknown[]).includes(error)
  const code = typeof error === 'string' && !isOwn ? error : 'unexpected'
  const text =
    typeof message === 'string'
      ? message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, MOST_MESSAGE)
      : `The service answered ${status}, as clusterd does not.`
  return new ClusterdError(code, text, { status, retryAfterMs: retryAfterOf(headers), body })
}

/** Wait that a Retry-After header asks for (RFC 9110, 10.2.3), milliseconds; undefined without a valid header. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Handler of a failed `fetch`. @throws ClusterdError network */
export function throwServiceUnreachable(cause: unknown): never {
  throw new ClusterdError('network', 'The service can not be reached.', { cause })
}

/** Pause before the next try after an outage, ms. @throws the error where it is not an outage */
export function pauseMsAfterOutage(error: unknown): number {
  const isOutage = error instanceof ClusterdError && (error.isTransient || error.code === 'timeout')
  if (!isOutage) throw error
  return Math.min(error.retryAfterMs ?? 0, MAX_PAUSE_MS)
}
