import { randomBytes } from 'node:crypto'
import { ERROR_STATUS } from '../../src/api/http/errors.js'
import type { Route } from '../../src/api/http/route.js'
import {
  REQUEST_WITHOUT_KEY,
  type RefusedRequest,
  type SampleData,
} from '../../src/api/http/sampleRequests.js'
import { z } from '../../src/api/http/schema.js'
import { addressSchema, clusterIdSchema, nameSchema, txIdSchema } from '../../src/api/v1/schemas.js'
import { callOf, lookupOf } from './ens.js'

/** The requests that routes declare, and requests that are refused for their form or size. */

/** A request as it is sent, without its key. */
export interface DeclaredRequest {
  method: string
  path: string
  body?: string
}

/** Call with which ENS asks for a wallet below the parent of tests. */
export const ensLookup = ({ walletName, name }: Pick<SampleData, 'walletName' | 'name'>) =>
  lookupOf(`${walletName}.${name}.bundles.eth`, callOf('addr(bytes32)'))

/** Values of path parameters that a declaration does not name. */
const paramsOf = (scene: SampleData): Readonly<Record<string, string>> => ({
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

/** A request that a route declares. @param query beside its own */
function requestOf(
  method: string,
  path: string,
  {
    params: paramsFrom,
    query: queryFrom,
    body: bodyFrom,
  }: Pick<RefusedRequest, 'params' | 'query' | 'body'>,
  scene: SampleData,
  query: Readonly<Record<string, string>>,
): DeclaredRequest {
  const params = { ...paramsOf(scene), ...paramsFrom?.(scene) }
  const filled = path.replace(/([:*])(\w+)/g, (_, sign, key) =>
    sign === '*' ? (params[key] ?? 'x') : encodeURIComponent(params[key] ?? 'x'),
  )
  const body = bodyFrom?.(scene)
  const own = typeof queryFrom === 'function' ? queryFrom(scene) : queryFrom
  return {
    method: method.toUpperCase(),
    path: `${filled}?${new URLSearchParams({ ...query, ...own })}`,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}

/**
 * The example that a route declares for its documents, about the seeds of the local world where it names any. Null for
 * a route that declares none.
 */
export const exampleRequest = (
  { method, path, example }: Route,
  scene: SampleData,
): DeclaredRequest | null =>
  example
    ? requestOf(
        method,
        path,
        {
          params: () => example.params ?? {},
          query: example.query,
          body: () => example.body,
        },
        scene,
        {},
      )
    : null

/** The request that a route declares as its most expensive one. @param query beside its own */
export const costliestRequest = (
  { method, path, costliestSample }: Route,
  scene: SampleData,
  query: Readonly<Record<string, string>> = {},
): DeclaredRequest => requestOf(method, path, costliestSample, scene, query)

/** What the values of a schema may not be, by the schema of a path parameter. */
const REFUSED_PARAMS: readonly (readonly [z.ZodType, string, Omit<RefusedRequest, 'params'>])[] = [
  [nameSchema, 'a b', { what: 'a text that is no name', error: 'invalid_name' }],
  [clusterIdSchema, 'x', { what: 'a text that is no id', error: 'invalid_request' }],
  [addressSchema, 'x', { what: 'a text that is no address', error: 'unsupported_address' }],
  [txIdSchema, 'x', { what: 'a text that is no transaction', error: 'invalid_request' }],
]

/**
 * The request that a route declares as bad. Where it declares none, a request that its schemas refuse: an empty page, a
 * number in a list of texts, a path parameter of another form, or else no key.
 * @throws Error for a route that has to declare one
 */
export function badRequestOf({
  path,
  refusedSample,
  auth,
  query,
  body,
  params,
}: Route): RefusedRequest | null {
  if (refusedSample === null && !body) return null
  if (refusedSample) return refusedSample
  const error = 'invalid_request'
  if (query?.shape.limit) return { what: 'an empty page', query: { limit: '0' }, error }
  if (body instanceof z.ZodArray && body.element instanceof z.ZodString)
    return { what: 'a number', body: () => [1], error }
  for (const [name, schema] of body ? [] : Object.entries(params?.shape ?? {}))
    for (const [known, value, refused] of REFUSED_PARAMS)
      if (schema === known) return { ...refused, params: () => ({ [name]: value }) }
  if (auth && !body) return REQUEST_WITHOUT_KEY
  throw new Error(`${path} declares no request that it refuses`)
}

/** What every route refuses. */
const LONG_URL: RefusedRequest = {
  what: 'a URL that is too long',
  query: { x: 'x'.repeat(5_000) },
  error: 'invalid_request',
}

/** A request that a route refuses. */
interface BadRequest extends DeclaredRequest {
  what: string
  /** Whose key it carries. */
  as: Route['costliestSample']['as']
  status: number
  error: string
}

/**
 * The request that a route declares as bad, and the requests that every such route refuses, under each of its paths.
 */
export function badRequests(route: Route, scene: SampleData): BadRequest[] {
  const paths = [route.path, ...(route.aliases ?? [])]
  const all = new Set([LONG_URL])
  const own = badRequestOf(route)
  if (own) all.add(own)
  if (route.auth === 'required') all.add(REQUEST_WITHOUT_KEY)
  return [...all].flatMap((bad) =>
    paths.map((path) => ({
      ...requestOf(route.method, path, bad, scene, {}),
      what: bad.what,
      as: bad.as === 'nobody' ? undefined : route.costliestSample.as,
      status: ERROR_STATUS[bad.error],
      error: bad.error,
    })),
  )
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
