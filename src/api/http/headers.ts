import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/** What helmet sets for an API that serves JSON to any site; taken from helmet once, since it is the same for all answers. */
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

/** Headers of every answer, as name, value, name, value. Keys travel in headers only, so any site may call the API. */
export const PUBLIC_HEADERS: readonly string[] = [
  ...helmetHeaders(),
  'access-control-allow-origin',
  '*',
  'access-control-expose-headers',
  'retry-after, x-request-id, deprecation, link',
]

/** The same with another Content-Security-Policy: a second one beside it would only forbid more. */
export const headersWithPolicy = (policy: string): string[] =>
  PUBLIC_HEADERS.map((text, i) => (PUBLIC_HEADERS[i - 1]?.toLowerCase() === 'content-security-policy' ? policy : text))

/** Headers of the answer to a CORS preflight. */
export const PREFLIGHT_HEADERS: readonly string[] = [
  ...PUBLIC_HEADERS,
  'access-control-allow-methods',
  'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers',
  'authorization, content-type, x-api-key, x-auth-key',
  'access-control-max-age',
  '86400',
  'content-length',
  '0',
]
