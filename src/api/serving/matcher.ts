import type { IncomingMessage } from 'node:http'

/** Path of a table, in Express's form, and what it stands for. */
export interface Entry<T> {
  method: string
  path: string
  value: T
}

/** What a request's path stands for, and its parameters, decoded. */
export interface Match<T> {
  value: T
  params: Readonly<Record<string, string>>
}

interface Compiled<T> {
  /** Texts of the path's parts; null where a parameter is. */
  literals: readonly (string | null)[]
  /** Names of the parameters by their part. */
  names: readonly (string | null)[]
  value: T | null
}

const PARAMETER = /^:([A-Za-z_]\w*)$/

/**
 * Creates a matcher of plain paths that finds what Express would: the first entry that matches, whatever the case of
 * its texts (path-to-regexp's defaults), or `none`. What is not plain it leaves to Express, as null: other methods,
 * absolute URLs, empty parts and slashes at the end, broken escapes, entries that mix texts and parameters in a part.
 */
export function createMatcher<T>(entries: readonly Entry<T>[]) {
  const table = new Map<string, Compiled<T>[]>()
  const methods = new Set(entries.map(({ method }) => method.toUpperCase()))
  for (const { method, path, value } of entries) {
    const parts = path.split('/').slice(1)
    const key = `${method.toUpperCase()} ${parts.length}`
    const names = parts.map((part) => PARAMETER.exec(part)?.[1] ?? null)
    // a part that mixes text and parameters matches anything here, and Express judges it
    const isPlain = parts.every((part, i) => names[i] !== null || !part.includes(':'))
    const literals = parts.map((part) => (part.includes(':') ? null : part.toLowerCase()))
    table.set(key, [...(table.get(key) ?? []), { literals, names, value: isPlain ? value : null }])
  }
  return ({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): Match<T> | 'none' | null => {
    const query = url.indexOf('?')
    const path = query === -1 ? url : url.slice(0, query)
    if (path.charCodeAt(0) !== SLASH || !methods.has(method ?? '')) return null
    const parts = path.slice(1).split('/')
    if (parts.includes('')) return null
    for (const { literals, names, value } of table.get(`${method} ${parts.length}`) ?? [])
      if (fits(literals, parts)) return value === null ? null : matched(value, names, parts)
    return path.includes('%') ? null : 'none'
  }
}

const SLASH = 0x2f

const fits = (literals: readonly (string | null)[], parts: readonly string[]): boolean =>
  parts.every((part, i) => literals[i] === null || part === literals[i] || part.toLowerCase() === literals[i])

function matched<T>(value: T, names: readonly (string | null)[], parts: readonly string[]): Match<T> | null {
  const params: Record<string, string> = {}
  for (let i = 0; i < parts.length; i++) {
    const name = names[i]
    if (!name) continue
    try {
      params[name] = decodeURIComponent(parts[i]!)
    } catch {
      return null
    }
  }
  return { value, params }
}
