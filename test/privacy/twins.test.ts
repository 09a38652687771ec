import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import type { Route } from '../../src/api/http/route.js'
import type { SampleData } from '../../src/api/http/sampleRequests.js'
import { MAX_BULK_LOOKUP_ELEMENTS } from '../../src/api/http/schema.js'
import { createTransparencyLogWorker } from '../../src/push/transparencyLog.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { type ApiWorld, startApi } from '../api/support.js'
import { proofOf, solanaAccount } from '../api/wallets.js'
import { lookupsOf, testEns } from '../support/ens.js'
import { readEpoch } from '../support/epoch.js'
import { nodesOf, rowsRead } from '../support/plan.js'
import { pathsOf } from './paths.js'
import { FOO, live, TIMES, TX, WALLETS } from './twins.js'

/**
 * Two registries with one public history. The first has private wallets, which also act. Both have to answer every
 * public request with the same bytes, and read the same number of rows.
 */
let twins: [ApiWorld, ApiWorld]
/** Headers of an anonymous caller, and of a stranger with a key. */
let askers: Record<string, string>[]

beforeAll(async () => {
  // a response may contain the current time
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  twins = [await startApi(testEns()), await startApi(testEns())]
  // streams end after what they have, and nothing waits
  for (const world of twins) world.release()
  const [first, second] = twins
  const { rows } = await first.pool.query('SELECT page_key FROM deployment')
  await second.pool.query('UPDATE deployment SET page_key = $1', [rows[0].page_key])
  for (const { pool } of twins) {
    await pool.query('ALTER SYSTEM SET autovacuum = off')
    await pool.query('SELECT pg_reload_conf()')
  }
  await Promise.all([live(first, true), live(second, false)])
  for (const { pool } of twins) await writeLogs(pool)
  const proof = await proofOf(first, solanaAccount(Buffer.alloc(32, 9)))
  const [key] = await Promise.all(
    twins.map(async (world) => (await world.post('/v1/auth/token', proof)).body.token),
  )
  askers = [{}, { authorization: `Bearer ${key}` }]
})
afterAll(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await Promise.all(twins.map((world) => world.stop()))
})

const LOG_KEYS = logKeysOfSeeds([Buffer.alloc(32, 7)])

/** Writes the logs of the feed and of evidence. */
async function writeLogs(pool: pg.Pool): Promise<void> {
  const epoch = await readEpoch(pool, 'mainnet', 'index')
  const ctx = { pool, network: 'mainnet', epoch } as const
  for (const isEvidence of [false, true]) {
    const worker = createTransparencyLogWorker(ctx, {
      domain: 'localhost',
      keys: LOG_KEYS,
      isEvidence,
    })
    while ((await worker.step(new AbortController().signal, () => {})) !== 'idle');
  }
}

const names = ['foo', 'bar', 'nobodys']
const addresses = [...Object.values(WALLETS), `0x${'00'.repeat(20)}`, `0x${'99'.repeat(20)}`]
const wallets = ['main', 'secret', 'cold-3', 'pats']
const lookups = lookupsOf(
  names.flatMap((name) => [name, ...wallets.map((wallet) => `${wallet}.${name}`)]),
)
/** Values of path parameters. */
const PATH = {
  address: addresses,
  name: names,
  walletName: wallets,
  sender: addresses.slice(0, 1),
  data: lookups,
  id: [toHex(FOO), `0x${'12'.repeat(32)}`],
  tx: [TX.foo, TX.lost, `0x${'13'.repeat(32)}`],
}
/** Values of query parameters, one at a time. Pages are followed by their tokens. */
const QUERY: Record<string, readonly string[]> = {
  after: ['foo', 'bar'],
  limit: ['1', '3'],
  orderBy: ['newest'],
  sortBy: ['newest'],
  nextPage: [],
  from: addresses,
  wallet: ['x'],
  type: ['evm'],
  walletAddress: addresses,
  to: addresses.slice(0, 1),
  fromTimestamp: ['0'],
  invitations: ['true'],
  orNull: ['true'],
}
const pairs = names.flatMap((name) => [
  name,
  `${name}/`,
  ...PATH.walletName.map((wallet) => `${name}/${wallet}`),
])
const folded = <T>(values: readonly T[]): T[] =>
  Array.from({ length: 1_000 }, (_, i) => values[i % values.length]!)
const quote = {
  network: '1',
  sender: WALLETS.bob,
  names: [{ name: 'fresh' }],
  referralClusterId: toHex(FOO),
}
/** Bodies in addition to the bodies that the routes declare. */
const BODIES: Record<string, readonly unknown[]> = {
  '/v1/names/address': addresses.map((address) => folded([address])),
  '/v1/names': [folded(pairs).map((name) => ({ name })), ...pairs.map((name) => [{ name }])],
  '/v1/names/register/check': [folded(pairs), names],
  '/v1/names/register/evm': [quote],
  '/v1/names/register/solana': [quote],
  '/v0.1/register': [quote],
  '/v0.1/address/names': [folded(pairs)],
  '/v0.1/cluster/names': [folded(names)],
  '/v0.1/name/addresses': addresses.map((address) => folded([address])),
  '/v0.1/community/register': [{ clusterName: 'foo', walletName: 'x' }],
  '/ens': lookups.slice(0, 3).map((data) => ({ sender: addresses[0], data })),
}

/** Data for the declared requests: the twins' wallets and names, in rotation. @param first where the rotation begins */
function sceneFrom(first: number): SampleData {
  let asked = first
  const oneOf = (values: readonly string[]) => values[asked++ % values.length]!
  const address = () => oneOf(addresses)
  return {
    name: names[first % names.length]!,
    walletName: wallets[first % wallets.length]!,
    held: folded(names),
    owner: addresses[first % addresses.length]!,
    clusterId: toHex(FOO),
    community: names[first % names.length]!,
    other: addresses[first % addresses.length]!,
    ensCall: () => oneOf(lookups),
    freshName: () => oneOf(wallets),
    evmAddress: address,
    solanaAddress: () => oneOf(addresses.filter((one) => !one.startsWith('0x'))),
    cosmosAddress: address,
    wrongProof: () => ({}),
  }
}

/**
 * Bodies that a route declares, for each of the wallets. A route without a schema gets an empty body, if it takes
 * one.
 */
function declaredBodies({
  method,
  costliestSample,
  example,
  refusedSample,
  body,
}: Route): unknown[] {
  if (!body) return method === 'get' ? [undefined] : [{}]
  const dear = addresses.map((_, first) => costliestSample.body?.(sceneFrom(first)))
  const all = [example?.body, refusedSample?.body?.(sceneFrom(0)), ...dear]
  const sent = all.map((one) =>
    JSON.stringify(Array.isArray(one) ? one.slice(0, MAX_BULK_LOOKUP_ELEMENTS) : one),
  )
  return [...new Set(sent)].flatMap((text) => (text === undefined ? [] : [JSON.parse(text)]))
}

interface Asked {
  path: string
  body?: unknown
}

/**
 * All requests of non-members, from the routes' declarations.
 * @param times for `fromTimestamp`, ms
 */
function* questions(times: readonly number[]): Generator<Asked> {
  for (const route of routes) {
    const { method, path: pattern, query, auth } = route
    if (auth === 'required') continue
    for (const path of pathsOf(pattern, PATH)) {
      const paths = [path]
      for (const name of Object.keys(query?.shape ?? {})) {
        for (const value of QUERY[name] ?? ['1'])
          paths.push(`${path}?${name}=${encodeURIComponent(value)}`)
      }
      if (method === 'get') for (const path of paths) yield { path }
      if (method === 'get') continue
      for (const body of [...declaredBodies(route), ...(BODIES[pattern] ?? [])])
        yield { path, body }
    }
  }
  for (const from of addresses) yield { path: `/v1/events?from=${from}&orderBy=newest&limit=1` }
  for (const order of ['oldest', 'newest']) {
    for (const ms of times)
      yield { path: `/v1/events?fromTimestamp=${ms}&orderBy=${order}&limit=2` }
    for (const second of new Set(times.map((ms) => Math.floor(ms / 1_000))))
      yield { path: `/v0.1/events?fromTimestamp=${second}&orderBy=${order}&limit=2` }
  }
}

/** A response as text, without values that always differ. */
async function answer(
  world: ApiWorld,
  { path, body }: Asked,
  headers: Record<string, string>,
): Promise<string> {
  const init =
    body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${world.url}${path}`, init)
  const shown = [...response.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
  return JSON.stringify([response.status, shown, await response.text()])
}

/** Requests for the pages that follow a response. */
const following = ({ path }: Asked, text: string): Asked[] =>
  [...text.matchAll(/\\"(?:nextPage|resume)\\":\\"([^"\\]+)/g)].map(([, token]) => ({
    path: `${path.split('?')[0]}?limit=3&nextPage=${token}`,
  }))

const monotonicMs = performance.now.bind(performance)
let passedMs = 0
/** How long a cache of responses uses a time that it has read, ms, and somewhat more. */
const CLOCK_READ_MS = 1_100

/**
 * Stops the monotonic clock an hour later: all cached answers have expired, and later ones do not. Otherwise an answer
 * may expire between the same request to one world and to the other.
 */
async function stopClockLater(): Promise<void> {
  passedMs += 3_600_000
  const stoppedMs = monotonicMs() + passedMs
  vi.spyOn(performance, 'now').mockImplementation(() => stoppedMs)
  await sleep(CLOCK_READ_MS)
}

const startClock = () =>
  void vi.spyOn(performance, 'now').mockImplementation(() => monotonicMs() + passedMs)

describe('with private wallets and without', () => {
  it('the evidence logs are equal, and have the public wallets’ signatures', async () => {
    const [first, second] = await Promise.all(
      twins.map(({ pool }) => pool.query('SELECT number, entry FROM evidence ORDER BY number')),
    )
    expect(first!.rows).toEqual(second!.rows)
    expect(first!.rows.map(({ entry }) => JSON.parse(entry).from)).toEqual([
      WALLETS.friend,
      WALLETS.alice,
    ])
    const roots = await Promise.all(
      twins.map(({ pool }) => pool.query('SELECT network, size, root FROM logs ORDER BY network')),
    )
    expect(roots[0]!.rows).toHaveLength(2)
    expect(roots[0]!.rows).toEqual(roots[1]!.rows)
  })

  it('every public response is the same, byte for byte, including tokens', async () => {
    const { rows } = await twins[0].pool.query('SELECT FROM wallets WHERE private')
    expect(rows.length).toBeGreaterThan(50)
    const seen = new Set<string>()
    for (const headers of askers) {
      const open: Asked[] = [...questions(TIMES)]
      for (let asked = open.shift(); asked; asked = open.shift()) {
        const [first, second] = await Promise.all(
          twins.map((world) => answer(world, asked!, headers)),
        )
        expect(first, asked.path).toBe(second)
        for (const next of following(asked, first!)) {
          const key = JSON.stringify([headers, next])
          if (!seen.has(key)) open.push(next)
          seen.add(key)
        }
      }
    }
    expect(seen.size).toBeGreaterThan(20)
  })

  it.each(['young tables', 'tables with statistics'])(
    'every response reads the same rows of %s',
    async (state) => {
      if (state === 'tables with statistics')
        for (const { pool } of twins) await pool.query('VACUUM ANALYZE')
      const plans = twins.map(({ pool }) => recordPlans(pool))
      const statements = new Set<string>()
      for (const headers of askers) {
        await stopClockLater()
        for (const asked of questions(TIMES.slice(0, 12))) {
          for (const world of twins) await answer(world, asked, headers)
          const [first, second] = plans.map((plan) => plan.take())
          expect(first, asked.path).toEqual(second)
          for (const [text] of first!) statements.add(String(text))
        }
      }
      startClock()
      for (const plan of plans) plan.end()
      expect(statements.size).toBeGreaterThan(15)
    },
  )
})

type Signed = readonly [method: string, path: string, body?: unknown]

/** Changes that a stranger signs, one after the other, about private and public data. */
const SIGNED: readonly Signed[] = [
  ['POST', `/v1/clusters/verify/${toHex(FOO)}`],
  ['POST', `/v1/clusters/verify/0x${'12'.repeat(32)}`],
  ...addresses.map(
    (address) => ['POST', '/v1/clusters/generate/wallet/confirm', { address }] as const,
  ),
  ['DELETE', '/v1/clusters/wallets', addresses],
  ['POST', '/v1/bundles/assign', { community: 'foo', name: 'secret' }],
  ['POST', '/v1/clusters'],
  ...addresses.map(
    (address, i) => ['POST', '/v1/clusters/wallets', [{ address, name: `seen-${i}` }]] as const,
  ),
  ...addresses.map(
    (address, i) => ['POST', '/v1/bundle/wallets', [{ address, name: `other-${i}` }]] as const,
  ),
  ['POST', '/v1/clusters/wallets', [{ address: WALLETS.pat, name: 'seen-5', isPrivate: true }]],
  ['PUT', '/v1/clusters/wallets/names', [{ address: WALLETS.pat, name: 'secret' }]],
  ...addresses.map(
    (address) => ['POST', '/v1/clusters/generate/wallet/confirm', { address }] as const,
  ),
  ...names.map((name) => ['PUT', `/v1/communities/${name}`, { prices: [] }] as const),
  ...names.flatMap((name) => [
    ['POST', `/v0.1/cluster/${name}/update/wallets`, { remove: addresses }] as const,
    ['GET', `/v1/airdrop/claim/${name}`] as const,
    [
      'POST',
      '/v1/bundles/assign',
      { community: name, name: 'secret', bundleId: toHex(FOO) },
    ] as const,
    ...[...PATH.walletName, 'hidden', 'last'].flatMap((wallet) =>
      [...addresses, undefined].map(
        (walletAddress) =>
          [
            'POST',
            `/v1/names/community/${name}/register`,
            { name: wallet, ...(walletAddress && { walletAddress }) },
          ] as const,
      ),
    ),
  ]),
  ...['id', 'name', 'address'].flatMap((by, i) =>
    [[toHex(FOO)], names, addresses][i]!.map(
      (value) => ['GET', `/v1/clusters/${by}/${value}`] as const,
    ),
  ),
  ['DELETE', '/v1/clusters/wallets', [WALLETS.pat, WALLETS.paul]],
  ...routes
    .filter(isSigned)
    .flatMap((route) =>
      pathsOf(route.path, PATH).flatMap((path) =>
        declaredBodies(route).map((body): Signed => [route.method.toUpperCase(), path, body]),
      ),
    ),
  ['DELETE', '/v1/auth/token'],
]

/** Routes that need a key, except routes with random data for the caller in their responses. */
function isSigned({ auth, privateDataFor, path }: Route): boolean {
  return auth === 'required' && privateDataFor !== 'caller' && path !== '/v1/auth/token'
}

it('a stranger’s changes have the same responses and effects', async () => {
  // signed changes are refused unless the clock agrees with the database's
  vi.useRealTimers()
  const headers = askers[1]!
  const asked = async (world: ApiWorld, method: string, path: string, body?: unknown) => {
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const { status, body: answered, headers: shown } = await world.request(path, init)
    const kept = [...shown].filter(([name]) => !['date', 'x-request-id'].includes(name))
    return JSON.stringify([status, answered, kept])
  }
  // remove dates, which come from the database's clock
  const undated = (text: string) =>
    text.replaceAll(/"timestamp":\d+|\d{4}-\d\d-\d\d[ T][\d:.]+(?:Z|\+00)|"etag","[^,]+"/g, '')
  const named = pairs.map((name) => ({ name }))
  const statuses = new Set<string>()
  for (const [method, path, body] of SIGNED) {
    const [first, second] = await Promise.all(
      twins.map((world) => asked(world, method, path, body)),
    )
    expect(undated(first!), `${method} ${path} ${JSON.stringify(body)}`).toBe(undated(second!))
    statuses.add(first!.slice(1, 4))
    const shown = twins.map(async (world) => {
      const events = world.get('/v1/events?orderBy=newest&limit=3')
      const known = [world.post('/v1/names/address', addresses), world.post('/v1/names', named)]
      return JSON.stringify(
        (await Promise.all([events, ...known])).map((reply) => reply.body.items ?? reply.body),
      )
    })
    const [here, there] = await Promise.all(shown)
    expect(undated(here!), `after ${method} ${path}`).toBe(undated(there!))
  }
  expect([...statuses].sort()).toEqual(['200', '400', '403', '404', '409'])
})

/** Number of rows that a statement reads of each table. */
function readOf(explained: pg.QueryResult): Record<string, number> {
  const read: Record<string, number> = {}
  for (const node of nodesOf(explained)) {
    const table = node['Relation Name']
    if (table !== undefined) read[table] = (read[table] ?? 0) + rowsRead(node)
  }
  return read
}

/** Explains every statement that the API runs. */
function recordPlans(pool: pg.Pool) {
  const taken: unknown[][] = []
  const plain = pool.query.bind(pool) as (config: pg.QueryConfig) => Promise<pg.QueryResult>
  const query = async (config: pg.QueryConfig) => {
    // the lag of the tables is read every second, independently of the request
    if (/^\s*(SELECT|WITH)\b/.test(config.text) && !config.text.includes('chain_states')) {
      const { text, values } = config
      const explained = await plain({
        text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values: values ?? [],
      })
      taken.push([text, readOf(explained)])
    }
    return plain(config)
  }
  Object.assign(pool, { query })
  // sorted, because some statements run at once
  const take = () => taken.splice(0).sort(([a], [b]) => String(a).localeCompare(String(b)))
  return { take, end: () => Object.assign(pool, { query: plain }) }
}
