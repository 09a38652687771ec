import type { Answer } from './answer.js'
import type { Route } from './route.js'

/** Date of v0.1's deprecation, as RFC 9745 asks for it: `@` and Unix seconds (a structured date of RFC 9651). */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 10, 20) / 1_000}`
/** Longer parameters are not filled into the successor's path: no name, address or hash is longer. */
const MAX_PARAM_CHARS = 128
/** Link target where the request does not have all parameters of the successor's path. */
const DOCUMENT = '/openapi.json'

/**
 * Adds the headers of a deprecated route: `Deprecation` (RFC 9745), and `Link` with the relation `successor-version`
 * (RFC 5829). The request's parameters are filled into the successor's path; where one is missing, the link goes to
 * the OpenAPI document.
 */
export function addDeprecationHeaders(
  { successor }: Pick<Route, 'successor'>,
  params: Readonly<Record<string, unknown>>,
  answer: Answer,
): Answer {
  if (!successor) return answer
  const link = `<${filled(successor, params)}>; rel="successor-version"`
  return { ...answer, headers: { ...answer.headers, deprecation: DEPRECATED_SINCE, link } }
}

function filled(path: string, params: Readonly<Record<string, unknown>>): string {
  const parts = path
    .split('/')
    .map((part) => (part.startsWith(':') ? text(params[part.slice(1)]) : part))
  return parts.includes(null) ? DOCUMENT : parts.join('/')
}

const text = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= MAX_PARAM_CHARS ? encodeURIComponent(value) : null
