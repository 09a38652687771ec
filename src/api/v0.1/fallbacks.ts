import type { IncomingMessage } from 'node:http'
import { type Answer, okAnswer } from '../http/answer.js'
import { addDeprecationHeaders } from '../http/routeHeaders.js'

/**
 * Responses of v0.1's single look-ups for paths that match no route, because a part of the path is empty, has slashes,
 * or cannot be decoded. v0.1 answers every name and address without an error.
 */
const FALLBACK_LOOKUPS: readonly {
  path: RegExp
  successor: string
  /** @param rest the part of the path that `path` captures, else empty */
  answer: (rest: string) => unknown
}[] = [
  {
    path: /^\/v0\.1\/name(?:\/.*)?$/,
    successor: '/v1/names/address/:address',
    answer: () => null,
  },
  { path: /^\/v0\.1\/address(?:\/.*)?$/, successor: '/v1/names', answer: () => null },
  {
    path: /^\/v0\.1\/cluster(?:\/.*)?$/,
    successor: '/v1/clusters/name/:name',
    answer: () => null,
  },
  {
    path: /^\/v0\.1\/register\/check\/(.*)$/,
    successor: '/v1/names/register/check',
    answer: (name) => ({ name, isAvailable: false }),
  },
  {
    path: /^\/v0\.1\/register\/tx\/(.*)$/,
    successor: '/v1/names/register/tx/:tx',
    answer: (tx) => ({ tx, status: 'not_found' }),
  },
]

/** The response to a look-up of v0.1 that no route matches; null for any other request. */
export function fallbackLookupAnswer({
  method,
  url = '',
}: Pick<IncomingMessage, 'method' | 'url'>): Answer | null {
  if (method !== 'GET' && method !== 'HEAD') return null
  const requestPath = url.split('?', 1)[0] ?? ''
  for (const { path, successor, answer } of FALLBACK_LOOKUPS) {
    const match = path.exec(requestPath)
    if (match) return addDeprecationHeaders({ successor }, {}, okAnswer(answer(match[1] ?? '')))
  }
  return null
}
