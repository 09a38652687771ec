import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { bech32 } from '@scure/base'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { routes } from '../../src/api/routes.js'
import { configure, useCommunities } from './communityApi.js'
import { type Member, memberOf } from './members.js'
import { bid, freshName, randomAddress, randomHash } from './support.js'
import { proofOf, solanaAccount } from './wallets.js'

/**
 * The dearest request of each route against registries as large as a caller can make them; `npm run costs` writes a
 * table of them.
 */
const REPEATS = process.env.COSTS ? 5 : 1
/** What a route may hold the process for at once, ms; a machine with others on it may add to that. */
const LONGEST_TURN_MS = 20
/** Resolution of the histogram, ms, which is part of each delay. */
const TICK_MS = 1
const NAMES = 1_001
const WALLETS = 999

const { world, ownerOf, community } = useCommunities()
const name = freshName()
const club = freshName()
/** Names of the largest cluster. */
const held = Array.from({ length: NAMES }, freshName)
let owner: Member
let other: Member
let fresh = 0

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
/** A thousand of the addresses that are dearest to parse. */
const cosmos = times(1_000, () => bech32.encode('cosmos', bech32.toWords(randomBytes(20))))
const added = (count: number) =>
  times(count, () => ({ address: randomAddress(), name: `w${++fresh}` }))
const allowlist = () => ({
  kind: 'allowlist',
  addresses: times(1_000, () => solanaAccount().address),
})

/** The caller, in a thread of its own: what it does holds up nothing here. */
const caller = new Worker(
  `const { parentPort } = require('node:worker_threads')
  parentPort.on('message', async ({ url, init }) => {
    const answer = await fetch(url, init)
    await answer.arrayBuffer()
    parentPort.postMessage(answer.status)
  })`,
  { eval: true },
)
afterAll(() => caller.terminate())
async function statusOf(url: string, init: RequestInit): Promise<number> {
  caller.postMessage({ url, init })
  return (await once(caller, 'message'))[0]
}

beforeAll(async () => {
  // streams end after what they have, and nothing waits
  world.release()
  owner = await ownerOf(name, 'testnet')
  await world.append(
    'testnet',
    held.map((one) => bid({ from: owner.address, name: one })),
  )
  await world.append('testnet', [bid({ from: owner.address, name: club })])
  for (const wallets of [...times(9, () => added(100)), added(WALLETS - 900)])
    expect((await owner.call('POST', '/v1/clusters/wallets?testnet=true', wallets)).status).toBe(
      200,
    )
  expect((await configure(owner, club, { requirements: [allowlist()] }, 'testnet')).status).toBe(
    200,
  )
  await community({}, 'testnet')
  other = await memberOf(world)
})

interface Ask {
  what?: string
  /** Path after the route's own parameters are filled in. */
  path?: string
  body?: () => unknown
  as?: () => Member
}

const wallet = () => `${name}/w${fresh}`
const bulk = {
  names: () => held.slice(0, 1_000).map((one) => ({ name: one })),
  texts: () => times(1_000, freshName),
}
const quote = (network: string) => () => ({
  network,
  sender: randomAddress(),
  names: times(100, () => ({ name: freshName() })),
})
const proof = async () => ({
  ...(await proofOf(world, solanaAccount())),
  signature: `0x${'ab'.repeat(64)}`,
})
const unknown = Object.fromEntries(times(6_000, (i) => [`k${i}`, 0]))
const as = () => other
const inCluster = () => owner

/** The dearest input of each route by method and path; what is left out has none but its path's. */
const DEAREST: Record<string, Ask> = {
  'get /v1/names/owner/address/:address': { what: '1,000 names a page' },
  'get /v1/names/community/:communityName/check/:name': { what: 'rules of 1,000 addresses' },
  'post /v1/names/address': { what: '1,000 Cosmos addresses', body: () => cosmos },
  'post /v1/wallets': {
    what: '100,000 Cosmos addresses',
    body: () => times(100_000, (i) => cosmos[i % 1_000]),
  },
  'post /v1/names': { what: '1,000 names of one cluster of 1,000 wallets', body: bulk.names },
  'get /v1/clusters/id/:id': { what: '1,000 wallets, by a member', as: inCluster },
  'get /v1/clusters/name/:name': { what: '1,000 wallets, by a member', as: inCluster },
  'get /v1/clusters/address/:address': { what: 'by a member', as: inCluster },
  'post /v1/clusters': { as },
  'post /v1/clusters/wallets': { what: '100 wallets', as, body: () => added(100) },
  'put /v1/clusters/wallets/names': {
    what: 'a name',
    as,
    body: () => [{ address: other.address, name: `r${++fresh}` }],
  },
  'delete /v1/clusters/wallets': { what: '100 wallets', as, body: () => times(100, randomAddress) },
  'post /v1/clusters/verify/:clusterId': { as },
  'post /v1/clusters/generate/wallet': {
    as,
    body: () => ({ type: 'solana', name: `g${++fresh}`, isPrivate: false }),
  },
  'post /v1/clusters/generate/wallet/confirm': {
    what: '6,000 unknown fields',
    as,
    body: () => unknown,
  },
  'post /v1/clusters/generate/wallet/recover': {
    as,
    body: () => ({ address: other.address, share: '0x00' }),
  },
  'post /v1/bundle': { as },
  'post /v1/bundle/wallets': { what: '100 wallets', as, body: () => added(100) },
  'post /v1/bundles/assign': {
    as: inCluster,
    body: () => ({ community: club, name: freshName() }),
  },
  'get /v1/airdrop/claim/:community': { as: inCluster },
  'get /v1/communities/:name': {
    what: '1,000 Solana addresses',
    path: `/v1/communities/${club}?testnet=true`,
  },
  'put /v1/communities/:name': {
    what: '1,000 Solana addresses',
    as: inCluster,
    body: () => ({ requirements: [allowlist()] }),
  },
  'post /v1/names/community/:communityName/register': {
    what: 'rules of 1,000 addresses',
    as,
    body: () => ({ name: freshName() }),
  },
  'post /v1/names/register/check': { what: '1,000 names', body: bulk.texts },
  'post /v1/names/register/evm': { what: '100 names, on the hub', body: quote('11155111') },
  'post /v1/names/register/solana': { what: 'no cluster in this run', body: quote('solana') },
  'get /v1/events': {
    what: '1,000 events',
    path: '/v1/events?testnet=true&limit=1000&orderBy=newest',
  },
  'get /v1/events/stream': {
    what: 'from the first event on',
    path: '/v1/events/stream?testnet=true&fromTimestamp=0',
  },
  'post /v1/auth/token': { what: 'wrong signature', body: proof },
  'get /v1/auth/validate': { as },
  'post /v1/auth/validate': { as },
  'post /v1/keys': { as, body: () => ({ name: 'mine' }) },
  'get /v1/keys': { as },
  'patch /v1/keys/:id': { as, body: () => ({ name: 'yours' }) },
  'delete /v1/keys/:id': { as },
  'get /v0.1/auth/validate': { as },
  'post /v0.1/auth/validate': { as },
  'delete /v1/auth/token': { as: () => leaving.pop()! },
  'post /v0.1/register/check': { what: '1,000 names', body: bulk.texts },
  'post /v0.1/register': { what: '100 names, on the hub', body: quote('11155111') },
  'post /v0.1/address/names': {
    what: '1,000 names of one cluster of 1,000 wallets',
    body: () => bulk.names().map((one) => one.name),
  },
  'post /v0.1/name/addresses': { what: '1,000 Cosmos addresses', body: () => cosmos },
  'post /v0.1/cluster/names': {
    what: '10 names of clusters of 1,000 wallets',
    body: () => held.slice(0, 10),
  },
  'post /v0.1/cluster/:name/update/wallets': {
    what: 'in a full cluster',
    as: inCluster,
    body: () => ({ add: added(1) }),
  },
  'get /v0.1/community/check/requirements/:clusterName': {
    what: 'rules of 1,000 addresses',
    path: `/v0.1/community/check/requirements/${club}?testnet=true&walletAddress=${randomAddress()}`,
  },
  'post /v0.1/community/register': {
    what: 'rules of 1,000 addresses',
    as,
    body: () => ({ clusterName: club, walletName: freshName() }),
  },
  'get /v0.1/events': {
    what: '5,000 events',
    path: '/v0.1/events?testnet=true&limit=5000&orderBy=newest',
  },
  'post /v0.1/auth/token': { what: 'wrong signature', body: proof },
}
const leaving: Member[] = []

/** Values of path parameters. */
const param = (key: string): string =>
  ({
    address: owner.address,
    id: clusterId,
    clusterId,
    community: club,
    communityName: club,
    clusterName: club,
    name: key === 'name' ? name : '',
    addressName: wallet().split('/')[1]!,
    walletName: 'nobody',
    tx: randomHash(),
  })[key] ?? 'x'
let clusterId = ''

it('every route answers its dearest request', async () => {
  clusterId = (await world.get(`/v1/clusters/address/${owner.address}?testnet=true`)).body.clusterId
  leaving.push(
    ...(await Promise.all(
      times(REPEATS, () => memberOf(world, privateKeyToAccount(generatePrivateKey()))),
    )),
  )
  const lines: string[] = []
  const long: string[] = []
  for (const { method, path } of routes) {
    const key = `${method} ${path}`
    const ask = DEAREST[key] ?? {}
    const statuses = new Set<number>()
    const spent: number[] = []
    let blocked = Number.POSITIVE_INFINITY
    for (let i = 0; i < REPEATS; i++) {
      const target = ask.path ?? `${path.replace(/:(\w+)/g, (_, one) => param(one))}?testnet=true`
      const body = JSON.stringify(await ask.body?.())
      const headers = ask.as?.().headers ?? {}
      const delays = monitorEventLoopDelay({ resolution: TICK_MS })
      delays.enable()
      const startMs = performance.now()
      const url = world.url + target
      statuses.add(
        await statusOf(url, { method: method.toUpperCase(), headers, ...(body && { body }) }),
      )
      spent.push(performance.now() - startMs)
      delays.disable()
      // what others on the machine add differs from one to the next
      blocked = Math.min(blocked, Math.max(0, delays.max / 1e6 - TICK_MS))
    }
    spent.sort((a, b) => a - b)
    const shown = [[...statuses].join(', '), spent[REPEATS >> 1]!.toFixed(1), blocked.toFixed(1)]
    lines.push(`| \`${method.toUpperCase()} ${path}\` | ${ask.what ?? ''} | ${shown.join(' | ')} |`)
    if (blocked > LONGEST_TURN_MS) long.push(`${key}: ${blocked.toFixed(1)} ms`)
    for (const status of statuses)
      expect([200, 201, 400, 401, 403, 404, 409, 503], `${key} ${status}`).toContain(status)
  }
  if (process.env.COSTS) {
    mkdirSync(dirname(process.env.COSTS), { recursive: true })
    writeFileSync(process.env.COSTS, `${lines.join('\n')}\n`)
    expect(long).toEqual([])
  }
  expect(
    Object.keys(DEAREST).filter(
      (key) => !routes.some(({ method, path }) => `${method} ${path}` === key),
    ),
  ).toEqual([])
})
