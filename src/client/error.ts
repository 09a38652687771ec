import type { Schemas } from './types.js'

/** Error codes that only the client uses. A response with such a code gets `unexpected`. */
const OWN_CODES = ['network', 'timeout', 'unexpected', 'log_mismatch', 'registry_mismatch'] as const

/** Error codes of the service and of the client. */
type ErrorCode = Schemas['Error']['error'] | (typeof OWN_CODES)[number]
type ErrorFields = Partial<Pick<ClusterdError, 'status' | 'retryAfterMs' | 'body' | 'cause'>>

/** HTTP statuses of a rate limit, an outage, or a proxy whose service is down. */
const TRANSIENT_STATUSES = [429, 502, 503, 504]
/** Maximum length of a service's message that an error repeats. */
const MAX_MESSAGE_CHARS = 500
/** Maximum number of refused elements that an error's message names. */
const MAX_ELEMENTS = 3
/** Maximum pause before the next attempt. With a wrong clock, a date in Retry-After may be far away. */
const MAX_PAUSE_MS = 60_000

/**
 * Matches characters that change how a terminal or a page shows a text: control characters, and characters that reverse
 * the order. The characters are listed one by one, because older versions of Hermes (React Native) refuse a file with
 * `\p{…}`.
 */
const INVISIBLE_PATTERN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are to be found
  /[\0-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff\ufff0-\ufffb\ufffe\uffff\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{10ffff}]/gu
const escapeCharacter = (character: string): string =>
  `\\u{${character.codePointAt(0)!.toString(16)}}`

/** Error of a failed call: an error response, no response, or data that failed its verification. */
export class ClusterdError extends Error {
  override name = 'ClusterdError'
  /** HTTP status, 0 where there was no response. */
  readonly status: number
  /** Retry-After of the response, milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The response's body. Not enumerable, because an uncaught error would print all of it. */
  declare readonly body: unknown
  /** @param code error code of the HTTP API (`not_found`, …), or of the client (`network`, `timeout`, …) */
  constructor(
    readonly code: ErrorCode | (string & {}),
    message: string,
    { status = 0, retryAfterMs, body, cause }: ErrorFields = {},
  ) {
    super(message.replaceAll(INVISIBLE_PATTERN, escapeCharacter), cause ? { cause } : {})
    this.status = status
    this.retryAfterMs = retryAfterMs
    Object.defineProperty(this, 'body', { value: body })
  }

  /** True if the same request may succeed a little later. */
  get isTransient(): boolean {
    return TRANSIENT_STATUSES.includes(this.status) || this.code === 'network'
  }
}

/** Error of a response whose status is not 2xx. In a browser a redirect is known only by the response's type. */
export function errorOfResponse({ status, headers, type }: Response, body: unknown): ClusterdError {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400))
    return new ClusterdError(
      'unexpected',
      'The service redirects, and the client does not follow: use the address that it redirects to.',
      { status },
    )
  const { error, message, details, names } = Object(body) as Record<string, unknown>
  const isOwn = (OWN_CODES as readonly unknown[]).includes(error)
  const code = typeof error === 'string' && !isOwn ? error : 'unexpected'
  const text =
    typeof message === 'string'
      ? printableText(message) + refusedElements(details, names)
      : `The service answered ${status}, as clusterd does not.`
  return new ClusterdError(code, text, { status, retryAfterMs: retryAfterOf(headers), body })
}

const printableText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are to be found
  text.replaceAll(/[\0-\x1f\x7f-\x9f]+/g, ' ').slice(0, MAX_MESSAGE_CHARS)

/**
 * Text with the first elements that an error response refuses, such as ` ([2].address: This is no address of a known
 * kind)`.
 */
function refusedElements(details: unknown, names: unknown): string {
  const listed = Array.isArray(details)
    ? details.map((one) => `${Object(one).path}: ${Object(one).message}`)
    : [names ?? []].flat()
  const more = listed.length > MAX_ELEMENTS ? '; …' : ''
  return listed.length > 0
    ? ` (${printableText(listed.slice(0, MAX_ELEMENTS).join('; '))}${more})`
    : ''
}

/** Wait that a Retry-After header requests (RFC 9110, 10.2.3), milliseconds; undefined without a valid header. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Handler of a failed `fetch`. @throws ClusterdError network */
export function throwServiceUnreachable(cause: unknown): never {
  throw new ClusterdError('network', 'The service can not be reached.', { cause })
}

/**
 * Pause that the service asks for before the next attempt, at most `MAX_PAUSE_MS`; 0 where it asks for none.
 * @throws the error itself where it is not an outage
 */
export function pauseMsAfterOutage(error: unknown): number {
  const isOutage = error instanceof ClusterdError && (error.isTransient || error.code === 'timeout')
  if (!isOutage) throw error
  return Math.min(error.retryAfterMs ?? 0, MAX_PAUSE_MS)
}

/** Error of a transparency log that contradicts itself, its key or an earlier checkpoint. */
export const logMismatchError = (message: string, cause?: unknown): ClusterdError =>
  new ClusterdError('log_mismatch', message, { cause })
