import type { IncomingMessage } from 'node:http'
import type { Route } from '../http/route.js'

/** The route of a request, and the decoded parameters of its path. */
export interface RouteMatch {
  route: Route
  params: Readonly<Record<string, string>>
}

/**
 * Creates the router. It finds the first route whose path matches, case-insensitively and with or without a slash at
 * the end; null where none matches, and for a path that can't be decoded.
 */
export function createRouter(routes: readonly Route[]) {
  const table = routes.flatMap((route) =>
    [route.path, ...(route.aliases ?? [])].map((path) => ({
      route,
      method: route.method.toUpperCase(),
      pattern: patternOf(path),
    })),
  )
  return ({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): RouteMatch | null => {
    const asked = method === 'HEAD' ? 'GET' : method
    const path = pathOf(url)
    for (const { method, pattern, route } of table) {
      const found = method === asked ? pattern.exec(path) : null
      if (!found) continue
      const params = { ...found.groups }
      for (const [name, text] of Object.entries(params)) {
        const own = decodePathPart(text)
        if (own === null) return null
        params[name] = own
      }
      return { route, params }
    }
    return null
  }
}

/** Regular expression of a path in Express's form: `:name` matches one part, `*name` at the end matches one or more. */
function patternOf(path: string): RegExp {
  const pattern = path
    .replaceAll('.', '\\.')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')
    .replaceAll(/\*(\w+)/g, '(?<$1>.+?)')
  return new RegExp(`^${pattern}/?$`, 'i')
}

/** The path of a URL. A proxy may send the URL with its origin (RFC 9112, 3.2.2) or with doubled slashes. */
function pathOf(url: string): string {
  const path = url.split('?', 1)[0]!
  return collapseSlashes(path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, ''))
}

const PATH = /^\/[^?]*/

/** Replaces doubled slashes in a path, with or without its query: a proxy that joins two paths may write them. */
export const collapseSlashes = (url: string): string =>
  url.includes('//') ? url.replace(PATH, (path) => path.replaceAll(/\/{2,}/g, '/')) : url

/** Decodes a part of a path; null where its escapes are malformed. */
export function decodePathPart(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
