import { randomBytes } from 'node:crypto'
import { bech32 } from '@scure/base'
import bs58 from 'bs58'
import { bodyLimitBytes } from '../../src/api/http/body.js'
import type { Route } from '../../src/api/http/route.js'
import type { SampleData } from '../../src/api/http/sampleRequests.js'
import {
  badRequests,
  costliestRequest,
  ensLookup,
  REFUSED_BODIES,
} from '../../test/support/declaredRequests.js'
import { routes } from '../declaredRoutes.js'
import type { Call } from './http.js'
import { SOCKET_FLOODS } from './sockets.js'

/** Requests of one kind, sent by a number of connections without pause. */
export interface Flood {
  name: string
  connections: number
  /** Makes the n-th request. */
  call(n: number): Call
}

/** Names, wallets and communities of the local world to which the floods' requests refer. */
export interface Targets {
  /** Network label of a spoke. */
  spoke: string
  /** Name of a community whose names are free for everybody. */
  openCommunity: string
  paidCommunity: string
  /** Hashes of transactions that are not registrations. */
  transfers: readonly string[]
  /** A seeded name, and the wallet that holds it. */
  name: string
  owner: string
}

/** A signed-in wallet of the attacker, and the wallets that its requests change. */
export interface Throwaway {
  authorization: string
  /** API key that raises the rate limits of the wallet's requests. */
  apiKey: string
  /** Addresses of the wallets that the wallet's cluster lists. */
  listed: readonly string[]
  self: string
}

const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`
const post = (path: string, body: unknown, headers?: Record<string, string>): Call => ({
  method: 'POST',
  path,
  body,
  ...(headers && { headers }),
})
const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
/** Object with as many fields as fit into a body. No route's schema has any of these fields. */
const unknown = Object.fromEntries(many(6_000, (i) => [`k${i}`, 0]))
const names = (count: number) => many(count, () => ({ name: `n${randomBytes(8).toString('hex')}` }))

/** Floods of requests without an API key or authentication key. */
function anonymousFloods({ spoke, openCommunity, paidCommunity, transfers }: Targets): Flood[] {
  const flood = (name: string, connections: number, call: Flood['call']): Flood => ({
    name,
    connections,
    call,
  })
  const since = () => Date.now() - Math.floor(Math.random() * 60_000)
  const solanaKey = bs58.encode(randomBytes(32))
  return [
    flood('page tokens by time', 2, () => ({
      path: `/v1/events?orderBy=newest&limit=1000&fromTimestamp=${since()}`,
    })),
    flood('long pages of v0.1', 2, () => ({ path: '/v0.1/events?limit=5000' })),
    flood('pages without items', 2, () => ({ path: '/v0.1/events?orderBy=newest&limit=1' })),
    flood('unknown hashes', 8, () => ({ path: `/v1/names/register/tx/${hex(32)}` })),
    flood('hashes of transfers', 2, (n) => ({
      path: `/v1/names/register/tx/${transfers[n % transfers.length]}`,
    })),
    flood('wrong signatures', 8, () =>
      post('/v1/auth/token', {
        type: 'evm',
        wallet: hex(20),
        signature: hex(65),
        signingDate: new Date().toISOString(),
      }),
    ),
    flood('long signatures', 2, () =>
      post('/v1/auth/token', {
        type: 'evm',
        wallet: hex(20),
        signature: hex(8_000),
        signingDate: new Date().toISOString(),
      }),
    ),
    flood('quotes on a spoke', 4, () =>
      post('/v1/names/register/evm', { network: spoke, sender: hex(20), names: names(50) }),
    ),
    flood('quotes on Solana', 4, () =>
      post('/v1/names/register/solana', {
        network: 'solana',
        sender: solanaKey,
        names: names(25),
      }),
    ),
    flood('amounts beyond 2^128', 1, () =>
      post('/v1/names/register/evm', {
        network: spoke,
        sender: hex(20),
        names: [{ name: 'too-much', amountWei: (2n ** 200n).toString() }],
      }),
    ),
    flood('unknown fields', 8, () => post('/v1/names/register/evm', unknown)),
    flood('bulk addresses', 2, () =>
      post(
        '/v1/names/address',
        many(1_000, () => bs58.encode(randomBytes(32))),
      ),
    ),
    flood('bulk names', 2, () =>
      post(
        '/v1/names',
        many(1_000, () => ({ name: `${paidCommunity}/zz` })),
      ),
    ),
    flood('requirements', 4, () => ({
      path: `/v0.1/community/check/requirements/${paidCommunity}?walletAddress=${hex(20)}`,
    })),
    flood('names below a community', 2, (n) => ({
      path: `/v1/names/community/${openCommunity}/check/x${n}`,
    })),
    flood('requests that mean nothing', 4, (n) => ({
      path: `/v1/${n}?${randomBytes(64).toString('hex')}`,
    })),
    flood('bodies that are no JSON', 2, () => post('/v1/names/address', '['.repeat(60_000))),
  ]
}

/** Floods of requests with the authentication key of a signed-in wallet. */
function memberFloods(
  { authorization, listed, self }: Throwaway,
  { openCommunity }: Targets,
): Flood[] {
  const headers = { authorization }
  const rename = (n: number) =>
    listed.map((address, i) => ({ address, name: `w${(i + n) % listed.length}` }))
  return [
    {
      name: 'renames',
      connections: 8,
      call: (n) => ({ ...post('', rename(n), headers), method: 'PUT', path: RENAMES }),
    },
    {
      name: 'new clusters',
      connections: 2,
      call: (n) =>
        n % 2 === 0
          ? post('/v1/clusters', undefined, headers)
          : { ...post('/v1/clusters/wallets', [self], headers), method: 'DELETE' },
    },
    {
      name: 'free community names',
      connections: 2,
      call: () => post(`/v1/names/community/${openCommunity}/register`, names(1)[0], headers),
    },
    {
      name: 'generated wallets',
      connections: 2,
      call: (n) => post('/v1/clusters/generate/wallet', { type: 'evm', name: `g${n}` }, headers),
    },
  ]
}

const headersOf = ({ authorization, apiKey }: Throwaway) => ({ authorization, 'x-api-key': apiKey })

const RENAMES = '/v1/clusters/wallets/names'

/** Sample data (names, wallets, clusters) to which the routes' declared sample requests refer. */
function sceneOf({ self }: Throwaway, targets: Targets): SampleData {
  return {
    name: targets.name,
    walletName: 'main',
    held: many(1_000, () => targets.name),
    owner: targets.owner,
    clusterId: hex(32),
    community: targets.paidCommunity,
    other: self,
    ensCall: () => ensLookup({ walletName: 'main', name: targets.name }),
    freshName: () => `n${randomBytes(8).toString('hex')}`,
    evmAddress: () => hex(20),
    solanaAddress: () => bs58.encode(randomBytes(32)),
    cosmosAddress: () => bech32.encode('cosmos', bech32.toWords(randomBytes(20))),
    wrongProof: () => ({
      type: 'evm',
      wallet: hex(20),
      signature: hex(65),
      signingDate: new Date().toISOString(),
    }),
  }
}

/** Floods with the API key and authentication key: every route's most expensive request, and its refused bodies. */
function dearestFloods(member: Throwaway, targets: Targets): Flood[] {
  const headers = headersOf(member)
  const scene = sceneOf(member, targets)
  const asked = routes.filter(({ path }) => path !== '/v1/auth/token')
  const withBody = asked.filter(({ body }) => body)
  const bodies = Object.values(REFUSED_BODIES)
  return [
    {
      name: 'dearest requests',
      connections: 20,
      call: (n) => ({ ...costliestRequest(asked[n % asked.length]!, scene), headers }),
    },
    {
      name: 'bodies that are refused',
      connections: 4,
      call(n) {
        const route = withBody[n % withBody.length]!
        const body = bodies[Math.floor(n / withBody.length) % bodies.length]!(bodyLimitBytes(route))
        return { ...costliestRequest(route, scene), body, headers }
      },
    },
    {
      name: 'quotes on Solana, by key',
      connections: 20,
      call: () =>
        post(
          '/v1/names/register/solana',
          { network: 'solana', sender: bs58.encode(randomBytes(32)), names: names(25) },
          headers,
        ),
    },
    {
      name: 'bodies of 8 MB',
      connections: 8,
      call: () => ({ ...post('/v1/names/address', ' '.repeat(8_000_000)), headers }),
    },
  ]
}

/** Bodies that a route refuses for their form or size. */
const refusedBodies = (route: Route): string[] =>
  route.body ? Object.values(REFUSED_BODIES).map((bodyOf) => bodyOf(bodyLimitBytes(route))) : []

const titleOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path}`

/**
 * For each route a flood of its most expensive request. Every fourth request of the flood is one that the route
 * refuses.
 */
function routeFloods(member: Throwaway, targets: Targets): Flood[] {
  const headers = headersOf(member)
  const scene = sceneOf(member, targets)
  return routes.map((route) => {
    let refused: Call[] | undefined
    return {
      name: titleOf(route),
      connections: 20,
      call(n) {
        const dearest = { ...costliestRequest(route, scene), headers }
        if (n % 4 > 0) return dearest
        refused ??= [
          ...badRequests(route, scene).map(({ method, path, body }) => ({
            method,
            path,
            body,
            headers,
          })),
          ...refusedBodies(route).map((body) => ({ ...dearest, body })),
        ]
        return refused[(n / 4) % Math.max(1, refused.length)] ?? dearest
      },
    }
  })
}

/** Flood of look-ups with an API key, which allows more of them. */
const lookUpFlood = (member: Throwaway): Flood => ({
  name: LOOK_UPS,
  connections: 20,
  call: () => ({ path: `/v1/names/address/${hex(20)}`, headers: headersOf(member) }),
})

const LOOK_UPS = 'look-ups, by key'

/** All floods that an attacker of a siege sends at once. */
export const standingFloods = (member: Throwaway, targets: Targets): Flood[] => [
  ...anonymousFloods(targets),
  ...memberFloods(member, targets),
  ...dearestFloods(member, targets),
]

/** All floods from which one can be chosen to be sent alone. */
export const floodsOf = (member: Throwaway, targets: Targets): Flood[] => [
  ...standingFloods(member, targets),
  ...routeFloods(member, targets),
  lookUpFlood(member),
]

/** Names of the floods whose requests are not to a single route. */
const SHARED = [
  LOOK_UPS,
  'dearest requests',
  'bodies that are refused',
  'quotes on Solana, by key',
  'bodies of 8 MB',
  'renames',
  'page tokens by time',
  'requests that mean nothing',
]

/** Names of all floods of a reach test, in order. */
export const REACH: readonly string[] = [
  ...SOCKET_FLOODS.map(({ name }) => name),
  ...SHARED,
  ...routes.map(titleOf),
]
