import { randomBytes } from 'node:crypto'
import type { Scene } from '../../src/api/http/dearest.js'
import type { Route } from '../../src/api/http/route.js'
import { callOf, lookupOf } from './ens.js'

/** The requests that routes declare as their dearest, and those that are refused for their form or size. */

/** A request as it is sent, without its key. */
export interface DearestRequest {
  method: string
  path: string
  body?: string
}

/** Call with which ENS asks for a wallet below the parent of tests. */
export const ensLookup = ({ walletName, name }: Pick<Scene, 'walletName' | 'name'>) =>
  lookupOf(`${walletName}.${name}.bundles.eth`, callOf('addr(bytes32)'))

/** Values of path parameters that a declaration does not name. */
const paramsOf = (scene: Scene): Readonly<Record<string, string>> => ({
  address: scene.owner,
  id: scene.clusterId,
  clusterId: scene.clusterId,
  community: scene.community,
  communityName: scene.community,
  clusterName: scene.community,
  name: scene.name,
  addressName: scene.walletName,
  walletName: 'nobody',
  tx: `0x${randomBytes(32).toString('hex')}`,
  sender: scene.owner,
  data: scene.ensCall(),
})

/** The request that a route declares. @param query beside its own */
export function dearestRequest(
  { method, path, dearest }: Route,
  scene: Scene,
  query: Readonly<Record<string, string>> = {},
): DearestRequest {
  const params = { ...paramsOf(scene), ...dearest.params?.(scene) }
  const filled = path.replace(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] ?? 'x'))
  const body = dearest.body?.(scene)
  return {
    method: method.toUpperCase(),
    path: `${filled}?${new URLSearchParams({ ...query, ...dearest.query })}`,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}

/** Fills a body up to a limit with pieces between two texts. */
function filled(
  [open, pieceOf, close]: readonly [string, (i: number) => string, string],
  limit: number,
): string {
  const pieces: string[] = []
  let length = open.length + close.length
  for (let i = 0; ; i++) {
    const piece = pieceOf(i)
    length += piece.length + 1
    if (length > limit) return `${open}${pieces.join(',')}${close}`
    pieces.push(piece)
  }
}

/** Bodies that are refused for their form or size, as large as a limit lets them be. */
export const REFUSED_BODIES: Readonly<Record<string, (limit: number) => string>> = {
  'an object of many fields': (limit) => filled(['{', (i) => `"k${i}":0`, '}'], limit),
  'a list of an object of many fields': (limit) => filled(['[{', (i) => `"k${i}":0`, '}]'], limit),
  'a list of many numbers': (limit) => filled(['[', () => '0', ']'], limit),
  'deep lists': (limit) => '['.repeat(limit / 2) + ']'.repeat(limit / 2),
  'one byte too many': (limit) => ' '.repeat(limit + 1),
}
