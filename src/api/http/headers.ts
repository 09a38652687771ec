import type { IncomingHttpHeaders } from 'node:http'

/**
 * Headers of every response, as a flat list of names and values. They are helmet's headers for an API that any site
 * may call. CORS allows any origin, because keys travel in headers and never in cookies.
 */
export const PUBLIC_HEADERS: readonly string[] = Object.entries({
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'etag, retry-after, ratelimit, ratelimit-policy, x-request-id, x-clusterd-stale, x-clusterd-as-of, deprecation, link',
}).flat()

/**
 * The public headers with a content security policy in place of the default one. A second policy header could only
 * forbid more.
 */
export const headersWithPolicy = (policy: string): string[] =>
  PUBLIC_HEADERS.map((text, i) =>
    PUBLIC_HEADERS[i - 1] === 'content-security-policy' ? policy : text,
  )

const DEFAULT_ALLOWED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const DEFAULT_ALLOWED_HEADERS =
  'authorization, content-type, if-none-match, last-event-id, x-api-key, x-auth-key'

/** Matches methods or header names, joined by commas (RFC 9110, 5.6.2). */
const TOKEN_LIST_PATTERN = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/

const tokenListOrNull = (text: string | undefined): string | null =>
  text !== undefined && TOKEN_LIST_PATTERN.test(text) ? text : null

/**
 * Headers of the response to a CORS preflight. All requested headers and methods are allowed, since pages add headers
 * of their own (tracing, idempotency). A list of allowed headers would protect nothing, because no cookie is read.
 */
export function preflightHeaders(requestHeaders: IncomingHttpHeaders): string[] {
  const method = tokenListOrNull(requestHeaders['access-control-request-method']) ?? 'GET'
  return [
    ...PUBLIC_HEADERS,
    'access-control-allow-methods',
    (DEFAULT_ALLOWED_METHODS.includes(method)
      ? DEFAULT_ALLOWED_METHODS
      : [...DEFAULT_ALLOWED_METHODS, method]
    ).join(', '),
    'access-control-allow-headers',
    tokenListOrNull(requestHeaders['access-control-request-headers']) ?? DEFAULT_ALLOWED_HEADERS,
    'access-control-max-age',
    '86400',
    'vary',
    'access-control-request-method, access-control-request-headers',
    'content-length',
    '0',
    // browsers cache the result for `access-control-max-age`. Other caches must not reuse it
    'cache-control',
    'no-cache',
  ]
}

/** Response headers that clients use, with their description and type in the OpenAPI documents. */
export const RESPONSE_HEADERS = {
  ETag: ['Names what was answered, for `If-None-Match`', 'string'],
  Link: ['`<path>; rel="next"` while more follows', 'string'],
  'X-Clusterd-As-Of': [
    'Network, block and time (ISO 8601) of the proved head of the hub that the answer reflects, or a newer one: `mainnet 21000000 2026-11-20T08:00:00.000Z`',
    'string',
  ],
  'Retry-After': ['Seconds after which to ask again', 'integer'],
  RateLimit: ['What is left of each quota, and the seconds until all of it is', 'string'],
  'RateLimit-Policy': ['The quotas: what flows in, within how many seconds', 'string'],
} as const
export type HeaderName = keyof typeof RESPONSE_HEADERS
