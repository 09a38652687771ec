import type { Answer } from './answer.js'
import type { Route } from './route.js'

/** Date of v0.1's deprecation, as RFC 9745 asks for it: `@` and Unix seconds (a structured date of RFC 9651). */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 10, 20) / 1_000}`
/** Longer parameters are cut from the successor's path: no name, address or hash is as long. */
const MAX_PARAM_CHARS = 128

/**
 * Marks the answer of a deprecated route: `Deprecation` (RFC 9745) and `Link` with the relation `successor-version`
 * (RFC 5829). Parameters of the request are filled into the successor's path, which ends before one that is too long.
 */
export function markDeprecated(
  { deprecated }: Pick<Route, 'deprecated'>,
  params: Readonly<Record<string, unknown>>,
  answer: Answer,
): Answer {
  if (!deprecated) return answer
  const link = `<${filled(deprecated.successor, params)}>; rel="successor-version"`
  return { ...answer, headers: { ...answer.headers, deprecation: DEPRECATED_SINCE, link } }
}

function filled(path: string, params: Readonly<Record<string, unknown>>): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (!part.startsWith(':')) parts.push(part)
    else {
      const value = params[part.slice(1)]
      if (typeof value !== 'string' || value.length > MAX_PARAM_CHARS) break
      parts.push(encodeURIComponent(value))
    }
  }
  return parts.join('/')
}
