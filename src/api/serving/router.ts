import type { IncomingMessage } from 'node:http'
import type { Route } from '../http/route.js'

/** The route of a request, and the decoded parameters of its path. */
export interface RouteMatch {
  route: Route
  params: Readonly<Record<string, string>>
}

/**
 * Creates the router. The router returns the first route whose path matches, case-insensitively and with or without a
 * slash at the end; null where no route matches, and for a path that cannot be decoded.
 */
export function createRouter(routes: readonly Route[]) {
  const table = routes.flatMap((route) =>
    [route.path, ...(route.aliases ?? [])].map((path) => ({
      route,
      method: route.method.toUpperCase(),
      pattern: patternOfPath(path),
      names: [...path.matchAll(PARAMETER_PATTERN)].map(([, , name]) => name!),
    })),
  )
  return ({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): RouteMatch | null => {
    const routeMethod = method === 'HEAD' ? 'GET' : method
    const end = url.indexOf('?')
    const path = end < 0 ? url : url.slice(0, end)
    for (const { method, pattern, names, route } of table) {
      const pathMatch = method === routeMethod ? pattern.exec(path) : null
      if (!pathMatch) continue
      const params: Record<string, string> = {}
      for (let i = 0; i < names.length; i++) {
        const decoded = decodePathPart(pathMatch[i + 1]!)
        if (decoded === null) return null
        params[names[i]!] = decoded
      }
      return { route, params }
    }
    return null
  }
}

/**
 * Matches a parameter of a path in Express's form: `:name` matches one part, `*name` at the end matches one or more.
 */
const PARAMETER_PATTERN = /([:*])(\w+)/g

/** Regular expression of a path, with a group for each parameter. Named groups would take longer than the match. */
function patternOfPath(path: string): RegExp {
  const pattern = path
    .replaceAll('.', '\\.')
    .replaceAll(PARAMETER_PATTERN, (_, kind) => (kind === ':' ? '([^/]+)' : '(.+?)'))
  return new RegExp(`^${pattern}/?$`, 'i')
}

const ORIGIN_PATTERN = /^https?:\/\/[^/?]*/i
const PATH_PATTERN = /^\/[^?]*/

/**
 * The URL of a request as path and query. A proxy may send the URL with its origin (RFC 9112, 3.2.2), or with doubled
 * slashes where the proxy has joined two paths.
 */
export function normalizeUrl(url: string): string {
  const local = url.startsWith('/') ? url : url.replace(ORIGIN_PATTERN, '')
  return local.includes('//')
    ? local.replace(PATH_PATTERN, (path) => path.replaceAll(/\/{2,}/g, '/'))
    : local
}

/** Decodes a part of a path; null where its escapes are malformed. */
export function decodePathPart(text: string): string | null {
  try {
    return text.includes('%') ? decodeURIComponent(text) : text
  } catch {
    return null
  }
}
