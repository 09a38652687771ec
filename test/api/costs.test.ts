import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { bech32 } from '@scure/base'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bodyLimit } from '../../src/api/http/body.js'
import { type Scene, times } from '../../src/api/http/dearest.js'
import type { Route } from '../../src/api/http/route.js'
import { routes } from '../../src/api/routes.js'
import { dearestRequest, ensLookup, REFUSED_BODIES } from '../support/dearest.js'
import { testGateway } from '../support/ens.js'
import { configure, useCommunities } from './communityApi.js'
import { type Member, memberOf } from './members.js'
import { type Cost, ProcessorTime, type Sent } from './processorTime.js'
import { quotingCluster } from './quotingCluster.js'
import { bid, freshName, randomAddress, startApi } from './support.js'
import { solanaAccount } from './wallets.js'

/**
 * A unit is processor time: the dearest valid request of each route, as its declaration says, and the dearest that are
 * refused for their form take at most three times a look-up's for each unit. `npm run costs` writes a table of them.
 */
const MOST_PER_UNIT = 3
/** A refusal is free, so it has a bound of its own, ms: beyond what its connection and bytes take. */
const REFUSAL_MS = 0.3
/** Requests of a measure: what others on the machine add to one evens out. */
const REPEATS = 6
/** Measures of a request that costs too much, before it is believed. */
const ATTEMPTS = 4
/** Milliseconds above which one request is enough for a measure. */
const LONG_MS = 100
const NAMES = 1_001
const WALLETS = 999

const UNBOUNDED = { perSecond: 1e-6, burst: 1e9 }
const LIMITS = {
  address: UNBOUNDED,
  key: UNBOUNDED,
  keysPerDay: 1e9,
  changesPerMinute: 1e9,
  changesPerDay: 1e9,
  clustersPerDay: 1e9,
  namesPerDay: 1e9,
}

const { world, ownerOf, community } = useCommunities({
  limits: LIMITS,
  ens: testGateway(),
  solana: [quotingCluster('testnet')],
})
const name = freshName()
const club = freshName()
const held = times(NAMES, freshName)
let owner: Member
let other: Member
let scene: Scene
let processors: ProcessorTime
const lines: string[] = []

beforeAll(async () => {
  // streams end after what they have, and nothing waits
  world.release()
  owner = await ownerOf(name, 'testnet')
  await world.append(
    'testnet',
    held.map((one) => bid({ from: owner.address, name: one })),
  )
  await world.append('testnet', [bid({ from: owner.address, name: club })])
  const added = (count: number) =>
    times(count, () => ({ address: randomAddress(), name: freshName() }))
  const listed = [...times(9, () => added(100)), added(WALLETS - 900)]
  for (const wallets of listed)
    expect((await owner.call('POST', '/v1/clusters/wallets?testnet=true', wallets)).status).toBe(
      200,
    )
  const addresses = times(1_000, () => solanaAccount().address)
  const rules = { requirements: [{ kind: 'allowlist', addresses }] }
  expect((await configure(owner, club, rules, 'testnet')).status).toBe(200)
  await community({}, 'testnet')
  other = await memberOf(world)
  const found = await world.get(`/v1/clusters/address/${owner.address}?testnet=true`)
  let used = 0
  const cosmos = times(1_000, () => bech32.encode('cosmos', bech32.toWords(randomBytes(20))))
  scene = {
    name,
    walletName: listed.at(-1)![0]!.name,
    held,
    owner: owner.address,
    clusterId: found.body.clusterId,
    community: club,
    other: other.address,
    ensCall: () => ensLookup(scene),
    freshName,
    evmAddress: randomAddress,
    solanaAddress: () => addresses[used++ % addresses.length]!,
    cosmosAddress: () => cosmos[used++ % cosmos.length]!,
    wrongProof: () => ({
      signature: `0x${'ab'.repeat(64)}`,
      signingDate: new Date().toISOString(),
      type: 'solana',
      wallet: addresses[0],
    }),
  }
  processors = new ProcessorTime(world)
}, 120_000)
afterAll(() => {
  processors.stop()
  if (!process.env.COSTS) return
  mkdirSync(dirname(process.env.COSTS), { recursive: true })
  const head = '| request | units | ms | ms a unit, of a look-up’s |\n| --- | --- | --- | --- |\n'
  writeFileSync(process.env.COSTS, `${head}${lines.join('\n')}\n`)
})

const keyOf = ({ as }: Route['dearest']): Record<string, string> => {
  if (as === undefined) return {}
  return (as === 'owner' ? owner : other).headers
}

/** A request of a route, by its declaration. */
const dearestOf = (route: Route): Sent => ({
  ...dearestRequest(route, scene, { testnet: 'true' }),
  headers: keyOf(route.dearest),
})

let lookUp: Cost

const measureLookUp = async (): Promise<void> => {
  const path = () => `/v1/names/address/${randomAddress()}?testnet=true`
  await processors.of(times(20, () => ({ method: 'GET', path: path() })))
  lookUp = await processors.of(times(60, () => ({ method: 'GET', path: path() })))
}

/** Processor time of a unit of a request, in that of a look-up. */
async function ratioOf(what: string, make: () => Sent): Promise<number> {
  const first = await processors.of([make()])
  let most = Number.POSITIVE_INFINITY
  let cost = first
  for (let i = 0; i < ATTEMPTS && most > MOST_PER_UNIT; i++) {
    // the look-up of the same moment
    if (i > 0) await measureLookUp()
    cost = await processors.of(times(first.ms > LONG_MS ? 1 : REPEATS, make))
    most = Math.min(most, cost.ms / cost.units / (lookUp.ms / lookUp.units))
  }
  const shown = [cost.units.toFixed(1), cost.ms.toFixed(2), most.toFixed(2)]
  lines.push(`| ${what} (${cost.statuses.join(', ')}) | ${shown.join(' | ')} |`)
  return most
}

const cases = routes.map((route) => ({
  title: `${route.method.toUpperCase()} ${route.path}`,
  route,
}))

beforeAll(measureLookUp)

it.each(cases)(
  'the dearest request of $title pays for its processor time',
  async ({ title, route }) => {
    const { what } = route.dearest
    const ratio = await ratioOf(what ? `${title}: ${what}` : title, () => dearestOf(route))
    expect(ratio).toBeLessThan(MOST_PER_UNIT)
  },
)

it.each(cases.filter(({ route }) => route.body))(
  'what $title refuses for its form or size pays for its processor time',
  async ({ title, route }) => {
    for (const [what, bodyOf] of Object.entries(REFUSED_BODIES)) {
      const body = bodyOf(bodyLimit(route))
      for (const chunked of body.length > bodyLimit(route) ? [false, true] : [false]) {
        const sent = { ...dearestOf(route), body, chunked }
        const ratio = await ratioOf(`${title}: ${what}${chunked ? ', chunked' : ''}`, () => sent)
        expect(ratio, what).toBeLessThan(MOST_PER_UNIT)
      }
    }
  },
)

it('a refusal takes less than its bound, beyond its connection', async () => {
  const small = await startApi({ limits: { ...LIMITS, address: { ...UNBOUNDED, burst: 1 } } })
  const bare = createServer((_req, res) => {
    res.shouldKeepAlive = false
    res.end('{}')
  })
  await once(bare.listen(0, '127.0.0.1'), 'listening')
  const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`
  const connections = new ProcessorTime({ ...small, url: bareUrl })
  const refused = new ProcessorTime(small)
  const kinds: Record<string, Sent> = {
    'GET, 429': { method: 'GET', path: '/v1/networks' },
    'POST, 429': { method: 'POST', path: '/v1/names', body: '[]' },
    'POST of 100 KiB, 429': { method: 'POST', path: '/v1/names', body: ' '.repeat(100_000) },
  }
  try {
    for (const [kind, sent] of Object.entries(kinds)) {
      let least = Number.POSITIVE_INFINITY
      for (let i = 0; i < ATTEMPTS && least > REFUSAL_MS; i++) {
        const alone = await connections.of(times(200, () => sent))
        const { ms, statuses } = await refused.of(times(200, () => sent))
        expect(statuses, kind).toEqual([429])
        least = Math.min(least, ms - alone.ms)
      }
      lines.push(`| ${kind}, beyond its connection | 0 | ${least.toFixed(2)} | |`)
      expect(least, kind).toBeLessThan(REFUSAL_MS)
    }
  } finally {
    refused.stop()
    connections.stop()
    bare.close()
    await small.stop()
  }
})
