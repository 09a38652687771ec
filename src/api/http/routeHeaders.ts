import type { Answer } from './answer.js'
import type { AuthRule, Route } from './route.js'

const VARY_ON_KEY_HEADERS = { vary: 'Authorization, X-AUTH-KEY' } as const
const PRIVATE_HEADERS = { ...VARY_ON_KEY_HEADERS, 'cache-control': 'private, no-store' } as const

/**
 * Adds cache headers to a response of a route with an authentication rule. A response made for a key must not be cached
 * for other callers.
 * @param isPublic the response was made without a session
 */
export const withCacheHeaders = (rule: AuthRule, isPublic: boolean, answer: Answer): Answer =>
  rule
    ? {
        ...answer,
        headers: { ...answer.headers, ...(isPublic ? VARY_ON_KEY_HEADERS : PRIVATE_HEADERS) },
      }
    : answer

/** Date of v0.1's deprecation in the form of RFC 9745: `@` and Unix seconds (a structured date of RFC 9651). */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 10, 20) / 1_000}`
/** Maximum length of a parameter that is put into the successor's path. No name, address or hash is longer. */
const MAX_PARAM_CHARS = 128
/** Target of the `Link` header where the request does not have all parameters of the successor's path. */
const OPENAPI_PATH = '/openapi.json'

/**
 * Adds the headers of a deprecated route: `Deprecation` (RFC 9745), and `Link` with the relation `successor-version`
 * (RFC 5829). The request's parameters are filled into the successor's path. If a parameter is missing or too long, the
 * link goes to the OpenAPI document.
 */
export function addDeprecationHeaders(
  { successor }: Pick<Route, 'successor'>,
  params: Readonly<Record<string, unknown>>,
  answer: Answer,
): Answer {
  if (!successor) return answer
  const link = `<${pathOfSuccessor(successor, params)}>; rel="successor-version"`
  return { ...answer, headers: { ...answer.headers, deprecation: DEPRECATED_SINCE, link } }
}

function pathOfSuccessor(path: string, params: Readonly<Record<string, unknown>>): string {
  const parts = path
    .split('/')
    .map((part) => (part.startsWith(':') ? encodeParam(params[part.slice(1)]) : part))
  return parts.includes(null) ? OPENAPI_PATH : parts.join('/')
}

const encodeParam = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= MAX_PARAM_CHARS ? encodeURIComponent(value) : null
