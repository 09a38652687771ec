import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { bech32 } from '@scure/base'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import { bodyLimitBytes } from '../../src/api/http/body.js'
import type { Route } from '../../src/api/http/route.js'
import { makeSampleList, type SampleData } from '../../src/api/http/sampleRequests.js'
import {
  badRequests,
  costliestRequest,
  ensLookup,
  REFUSED_BODIES,
} from '../support/declaredRequests.js'
import { testEns } from '../support/ens.js'
import { useCommunities } from './communityApi.js'
import { type Member, memberOf } from './members.js'
import { MOST_PER_UNIT, ProcessorTime, type Sent } from './processorTime.js'
import { quotingCluster } from './quotingCluster.js'
import { type ApiWorld, bid, freshName, limitsOf, randomAddress, startApi } from './support.js'
import { solanaAccount } from './wallets.js'

/**
 * A unit is processor time. The most expensive valid request of each route, as the route declares it, and the most
 * expensive malformed ones take at most three times a look-up's time per unit. `npm run costs` writes a table.
 */

/** Bound of a refusal's time, which costs no unit, ms. The time of its connection and bytes is not included. */
const REFUSAL_MS = 0.3
/** Measurements after which a refusal counts as too expensive: its time is the small difference between two of them. */
const REFUSAL_ATTEMPTS = 8
/** Selects the network of the scene. */
const TESTNET = '?testnet=true'
const NAMES = 1_001
const WALLETS = 999

const { world, ownerOf, community } = useCommunities({
  limits: limitsOf(1e9),
  ...testEns(),
  otherChains: [quotingCluster('testnet')],
})
const name = freshName()
const club = freshName()
const held = makeSampleList(NAMES, freshName)
let owner: Member
let other: Member
let scene: SampleData
let processors: ProcessorTime
const lines: string[] = []

beforeAll(async () => {
  // end streams after their existing events, and long polls at once
  world.release()
  owner = await ownerOf(name, 'testnet')
  await world.append(
    'testnet',
    held.map((one) => bid({ from: owner.address, name: one })),
  )
  await world.append('testnet', [bid({ from: owner.address, name: club })])
  const added = (count: number) =>
    makeSampleList(count, () => ({ address: randomAddress(), name: freshName() }))
  const listed = [...makeSampleList(9, () => added(100)), added(WALLETS - 900)]
  for (const wallets of listed)
    expect((await owner.call('POST', '/v1/clusters/wallets?testnet=true', wallets)).status).toBe(
      200,
    )
  const addresses = makeSampleList(1_000, () => solanaAccount().address)
  const rules = { requirements: [{ kind: 'allowlist', addresses }] }
  expect((await owner.call('PUT', `/v1/communities/${club}?testnet=true`, rules)).status).toBe(200)
  await community({}, 'testnet')
  other = await memberOf(world)
  const found = await world.get(`/v1/clusters/address/${owner.address}?testnet=true`)
  let used = 0
  const cosmos = makeSampleList(1_000, () =>
    bech32.encode('cosmos', bech32.toWords(randomBytes(20))),
  )
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

const keyOf = ({ as }: Pick<Route['costliestSample'], 'as'>): Record<string, string> => {
  if (as === undefined) return {}
  return (as === 'owner' ? owner : other).headers
}

/** A route's most expensive request, as declared. */
const costliestOf = (route: Route): Sent => ({
  ...costliestRequest(route, scene, { testnet: 'true' }),
  headers: keyOf(route.costliestSample),
})

/** Processor time per unit of a request, as a multiple of a look-up's time. */
async function ratioOf(what: string, make: () => Sent): Promise<number> {
  const { units, ms, ratio, statuses } = await processors.ratioOf(make, TESTNET)
  const shown = [units.toFixed(1), ms.toFixed(2), ratio.toFixed(2)]
  lines.push(`| ${what} (${statuses.join(', ')}) | ${shown.join(' | ')} |`)
  return ratio
}

const cases = routes.map((route) => ({
  title: `${route.method.toUpperCase()} ${route.path}`,
  route,
}))

beforeAll(() => processors.measureLookUp(TESTNET))

it.each(cases)(
  'the most expensive request of $title costs enough units for its processor time',
  async ({ title, route }) => {
    const { what } = route.costliestSample
    const ratio = await ratioOf(what ? `${title}: ${what}` : title, () => costliestOf(route))
    expect(ratio).toBeLessThan(MOST_PER_UNIT)
  },
)

it.each(cases)(
  'the bad request of $title costs enough units for its processor time',
  async ({ title, route }) => {
    for (const { what, status, as, ...sent } of badRequests(route, scene)) {
      const headers = keyOf({ as })
      const ratio = await ratioOf(`${title}: ${what}`, () => ({ ...sent, headers }))
      expect(ratio, what).toBeLessThan(MOST_PER_UNIT)
    }
  },
)

it.each(cases.filter(({ route }) => route.body))(
  'a malformed or large request of $title costs enough units for its processor time',
  async ({ title, route }) => {
    for (const [what, bodyOf] of Object.entries(REFUSED_BODIES)) {
      const body = bodyOf(bodyLimitBytes(route))
      for (const chunked of body.length > bodyLimitBytes(route) ? [false, true] : [false]) {
        const sent = { ...costliestOf(route), body, chunked }
        const ratio = await ratioOf(`${title}: ${what}${chunked ? ', chunked' : ''}`, () => sent)
        expect(ratio, what).toBeLessThan(MOST_PER_UNIT)
      }
    }
  },
)

/** A server that answers everything and closes the connection, as the baseline of a refusal. */
async function startBare() {
  const server = createServer((_req, res) => {
    res.shouldKeepAlive = false
    res.end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/**
 * Checks that refusals take no more than their bound, in addition to their connections and the units that they cost.
 * @param status that all of them have
 */
async function expectCheap(small: ApiWorld, status: number, kinds: Readonly<Record<string, Sent>>) {
  const bare = await startBare()
  const connections = new ProcessorTime({ ...small, url: bare.url })
  const refused = new ProcessorTime(small)
  try {
    for (const [kind, sent] of Object.entries(kinds)) {
      let least = Number.POSITIVE_INFINITY
      for (let i = 0; i < REFUSAL_ATTEMPTS && least > REFUSAL_MS; i++) {
        const alone = await connections.of(makeSampleList(200, () => sent))
        const { ms, units, statuses } = await refused.of(makeSampleList(200, () => sent))
        expect(statuses, kind).toEqual([status])
        const paidMs = units > 0 ? units * processors.lookUpMs : 0
        least = Math.min(least, ms - alone.ms - paidMs)
        lines.push(
          `| ${kind}, ${status}, beyond its connection | ${units.toFixed(1)} | ${(ms - alone.ms).toFixed(2)} | |`,
        )
      }
      expect(least, kind).toBeLessThan(REFUSAL_MS)
    }
  } finally {
    refused.stop()
    connections.stop()
    bare.server.close()
  }
}

it('a 429 takes less time than its bound, in addition to its connection', async () => {
  const small = await startApi({ limits: limitsOf(1) })
  try {
    await expectCheap(small, 429, {
      GET: { method: 'GET', path: '/v1/networks' },
      POST: { method: 'POST', path: '/v1/names', body: '[]' },
      'POST of 100 KiB': { method: 'POST', path: '/v1/names', body: ' '.repeat(100_000) },
    })
  } finally {
    await small.stop()
  }
})
