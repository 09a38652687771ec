import type { IncomingMessage } from 'node:http'
import type { Route } from '../http/route.js'

/** The route that a request asks for, and the parameters of its path, decoded. */
export interface Match {
  route: Route
  params: Readonly<Record<string, string>>
}

/**
 * Creates the router: it finds the first route whose path matches, whatever the case of its texts, with a slash at the
 * end or without; null where there is none, and for a path that can't be decoded.
 */
export function createRouter(routes: readonly Route[]) {
  const table = routes.flatMap((route) =>
    [route.path, ...(route.aliases ?? [])].map((path) => ({
      route,
      method: route.method.toUpperCase(),
      pattern: patternOf(path),
    })),
  )
  return ({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): Match | null => {
    const asked = method === 'HEAD' ? 'GET' : method
    const path = pathOf(url)
    for (const { method, pattern, route } of table) {
      const found = method === asked ? pattern.exec(path) : null
      if (!found) continue
      const params = { ...found.groups }
      for (const [name, text] of Object.entries(params)) {
        const own = decoded(text)
        if (own === null) return null
        params[name] = own
      }
      return { route, params }
    }
    return null
  }
}

/** Of a path in Express's form: `:name` stands for one part, `*name` at its end for one or more. */
function patternOf(path: string): RegExp {
  const pattern = path
    .replaceAll('.', '\\.')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')
    .replaceAll(/\*(\w+)/g, '(?<$1>.+?)')
  return new RegExp(`^${pattern}/?$`, 'i')
}

/** The path of a URL, which a proxy may send with its origin (RFC 9112, 3.2.2), or with slashes doubled. */
function pathOf(url: string): string {
  const path = url.split('?', 1)[0]!
  return foldSlashes(path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, ''))
}

const PATH = /^\/[^?]*/

/** A path, with its query or without, whose doubled slashes are one: a proxy that joins two paths may write them. */
export const foldSlashes = (url: string): string =>
  url.includes('//') ? url.replace(PATH, (path) => path.replaceAll(/\/{2,}/g, '/')) : url

/** A text of a path without its escapes; null where they are broken. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
