import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/** Security headers of helmet for an API that any site may call, computed once since all answers have the same. */
function helmetHeaders(): string[] {
  const protect = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  })
  const req = new IncomingMessage(new Socket())
  const res = new ServerResponse(req)
  protect(req, res, () => {})
  return Object.entries(res.getHeaders()).flatMap(([name, value]) => [name, String(value)])
}

/**
 * Headers of every answer, as a flat list of names and values. CORS allows any origin, since keys travel in headers
 * only.
 */
export const PUBLIC_HEADERS: readonly string[] = [
  ...helmetHeaders(),
  'access-control-allow-origin',
  '*',
  'access-control-expose-headers',
  'etag, retry-after, ratelimit, ratelimit-policy, x-request-id, x-clusterd-stale, deprecation, link',
]

/** Public headers with another Content-Security-Policy; a second policy header would only forbid more. */
export const headersWithPolicy = (policy: string): string[] =>
  PUBLIC_HEADERS.map((text, i) => (PUBLIC_HEADERS[i - 1]?.toLowerCase() === 'content-security-policy' ? policy : text))

/** Headers of the answer to a CORS preflight. */
export const PREFLIGHT_HEADERS: readonly string[] = [
  ...PUBLIC_HEADERS,
  'access-control-allow-methods',
  'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers',
  'authorization, content-type, if-none-match, last-event-id, x-api-key, x-auth-key',
  'access-control-max-age',
  '86400',
  'content-length',
  '0',
]

/** Headers that clients act on, as the documents describe them. */
export const HEADERS = {
  ETag: ['Names what was answered, for `If-None-Match`', 'string'],
  Link: ['`<path>; rel="next"` while more follows', 'string'],
  'Retry-After': ['Seconds after which to ask again', 'integer'],
  RateLimit: ['What is left of each quota, and the seconds until all of it is', 'string'],
  'RateLimit-Policy': ['The quotas: what flows in, within how many seconds', 'string'],
} as const
export type HeaderName = keyof typeof HEADERS
