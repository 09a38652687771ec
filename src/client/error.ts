import type { Schemas } from './types.js'

/** Codes of the service, and of failures on this side: no answer, none in time, one that is not the service's. */
type Code = Schemas['Error']['error'] | 'network' | 'timeout' | 'unexpected' | 'feed_mismatch' | 'registry_mismatch'

/** Limited, unavailable, or a proxy whose service is away. */
const TRANSIENT = [429, 502, 503, 504]

interface Failure {
  /** HTTP status, 0 where there was no answer. */
  status: number
  /** Time after which the service wants to be asked again, milliseconds. */
  retryAfterMs?: number | undefined
  /** The answer's body. */
  body?: unknown
  cause?: unknown
}

/** Every failure of a call: an error that the service answered, or no answer. */
export class ClusterdError extends Error {
  override name = 'ClusterdError'
  readonly status: number
  readonly retryAfterMs: number | undefined
  readonly body: unknown
  /** @param code of the interface (`not_found`, `rate_limited`, …), else `network`, `timeout` or `unexpected` */
  constructor(
    readonly code: Code | (string & {}),
    message: string,
    { status, retryAfterMs, body, cause }: Failure = { status: 0 },
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
export function errorOf(response: Response, body: unknown): ClusterdError {
  const { error, message } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const isOurs = typeof error === 'string'
  const text = isOurs && typeof message === 'string' ? message : `The service answered ${response.status}.`
  const retryAfterMs = retryAfterOf(response.headers.get('retry-after'))
  return new ClusterdError(isOurs ? error : 'unexpected', text, { status: response.status, retryAfterMs, body })
}

/** Milliseconds of a Retry-After header, in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfterOf(text: string | null): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
