import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { bech32 } from '@scure/base'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, it } from 'vitest'
import { routes } from '../../src/api/routes.js'
import { configure, useCommunities } from './communityApi.js'
import { type Member, memberOf } from './members.js'
import { bid, freshName, randomAddress, randomHash } from './support.js'
import { proofOf, solanaAccount } from './wallets.js'

/**
 * The dearest request of each route against registries as large as a caller can make them: docs/limits.md has the table
 * that `npm run costs` writes.
 */
const REPEATS = process.env.COSTS ? 5 : 1
const NAMES = 1_001
const WALLETS = 999

const { world, ownerOf, community } = useCommunities()
const [name, club] = [freshName(), freshName()]
let owner: Member
let other: Member
let fresh = 0

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
/** A thousand of the addresses that are dearest to parse. */
const cosmos = times(1_000, () => bech32.encode('cosmos', bech32.toWords(randomBytes(20))))
const added = (count: number) => times(count, () => ({ address: randomAddress(), name: `w${++fresh}` }))
const allowlist = () => ({ kind: 'allowlist', addresses: times(1_000, () => solanaAccount().address) })

beforeAll(async () => {
  owner = await ownerOf(name, 'testnet')
  await world().append(
    'testnet',
    times(NAMES, () => bid({ from: owner.address, name: freshName() })),
  )
  await world().append('testnet', [bid({ from: owner.address, name: club })])
  for (const wallets of [...times(9, () => added(100)), added(WALLETS - 900)])
    expect((await owner.call('POST', '/v1/clusters/wallets?testnet=true', wallets)).status).toBe(200)
  expect((await configure(owner, club, { requirements: [allowlist()] }, 'testnet')).status).toBe(200)
  await community({}, 'testnet')
  other = await memberOf(world())
})

interface Ask {
  /** Path after the route's own parameters are filled in. */
  path?: string
  body?: () => unknown
  as?: () => Member
}

const wallet = () => `${name}/w${fresh}`
const bulk = { names: () => times(1_000, (i) => ({ name: `${name}/w${i}` })), texts: () => times(1_000, freshName) }
const quote = (network: string) => () => ({
  ...{ network, sender: randomAddress() },
  names: times(100, () => ({ name: freshName() })),
})
const oldQuote = () => ({ ...quote('11155111')(), sender: randomAddress() })
const proof = async () => ({ ...(await proofOf(world(), solanaAccount())), signature: `0x${'ab'.repeat(64)}` })
const as = () => other
const inCluster = () => owner

/** The dearest input of each route by method and path; what is left out has none but its path's. */
const DEAREST: Record<string, Ask> = {
  'post /v1/names/address': { body: () => cosmos },
  'post /v1/names': { body: bulk.names },
  'get /v1/clusters/id/:id': { as: inCluster },
  'get /v1/clusters/name/:name': { as: inCluster },
  'get /v1/clusters/address/:address': { as: inCluster },
  'post /v1/clusters': { as },
  'post /v1/clusters/wallets': { as, body: () => added(100) },
  'put /v1/clusters/wallets/names': { as, body: () => [{ address: other.address, name: `r${++fresh}` }] },
  'delete /v1/clusters/wallets': { as, body: () => times(100, randomAddress) },
  'post /v1/clusters/verify/:clusterId': { as },
  'post /v1/clusters/generate/wallet': {
    as,
    body: () => ({ type: 'solana', name: `g${++fresh}`, isPrivate: false, passphrase: 'x'.repeat(100) }),
  },
  'post /v1/clusters/generate/wallet/confirm': { as, body: () => ({ address: other.address }) },
  'post /v1/clusters/generate/wallet/recover': { as, body: () => ({ address: other.address, share: '0x00' }) },
  'post /v1/bundle': { as },
  'post /v1/bundle/wallets': { as, body: () => added(100) },
  'post /v1/bundles/assign': { as, body: () => ({ community: club, name: freshName() }) },
  'get /v1/airdrop/claim/:community': { as: inCluster },
  'get /v1/communities/:name': { path: `/v1/communities/${club}?testnet=true` },
  'put /v1/communities/:name': { as: inCluster, body: () => ({ requirements: [allowlist()] }) },
  'post /v1/names/community/:communityName/register': { as, body: () => ({ name: freshName() }) },
  'post /v1/names/register/check': { body: bulk.texts },
  'post /v1/names/register/evm': { body: quote('11155111') },
  'post /v1/names/register/solana': { body: quote('solana') },
  'get /v1/events': { path: '/v1/events?testnet=true&limit=1000&orderBy=newest' },
  'post /v1/auth/token': { body: proof },
  'delete /v1/auth/token': { as: () => leaving.pop()! },
  'post /v0.1/register/check': { body: bulk.texts },
  'post /v0.1/register': { body: oldQuote },
  'post /v0.1/address/names': { body: () => bulk.names().map((one) => one.name) },
  'post /v0.1/name/addresses': { body: () => cosmos },
  'post /v0.1/cluster/names': { body: () => times(1_000, () => name) },
  'post /v0.1/cluster/:name/update/wallets': { as: inCluster, body: () => ({ add: added(1) }) },
  'get /v0.1/community/check/requirements/:clusterName': {
    path: `/v0.1/community/check/requirements/${club}?testnet=true&walletAddress=${randomAddress()}`,
  },
  'post /v0.1/community/register': { as, body: () => ({ clusterName: club, walletName: freshName() }) },
  'get /v0.1/events': { path: '/v0.1/events?testnet=true&limit=5000&orderBy=newest' },
  'post /v0.1/auth/token': { body: proof },
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
  clusterId = (await world().get(`/v1/clusters/address/${owner.address}?testnet=true`)).body.clusterId
  leaving.push(
    ...(await Promise.all(times(REPEATS, () => memberOf(world(), privateKeyToAccount(generatePrivateKey()))))),
  )
  const lines: string[] = []
  for (const { method, path } of routes) {
    const key = `${method} ${path}`
    const ask = DEAREST[key] ?? {}
    const statuses = new Set<number>()
    const spent: number[] = []
    let blocked = 0
    for (let i = 0; i < REPEATS; i++) {
      const target = ask.path ?? `${path.replace(/:(\w+)/g, (_, one) => param(one))}?testnet=true`
      const body = JSON.stringify(await ask.body?.())
      const headers = ask.as?.().headers ?? {}
      const held = monitorEventLoopDelay({ resolution: 1 })
      held.enable()
      const startMs = performance.now()
      const answer = await fetch(world().url + target, { method: method.toUpperCase(), headers, ...(body && { body }) })
      await answer.arrayBuffer()
      spent.push(performance.now() - startMs)
      held.disable()
      blocked = Math.max(blocked, held.max / 1e6)
      statuses.add(answer.status)
    }
    spent.sort((a, b) => a - b)
    const [middle] = spent.splice(REPEATS >> 1, 1)
    lines.push(`| \`${key}\` | ${[...statuses].join(', ')} | ${middle!.toFixed(1)} | ${blocked.toFixed(1)} |`)
    for (const status of statuses)
      expect([200, 201, 400, 401, 403, 404, 409, 503], `${key} ${status}`).toContain(status)
  }
  if (process.env.COSTS) {
    mkdirSync(dirname(process.env.COSTS), { recursive: true })
    writeFileSync(process.env.COSTS, `${lines.join('\n')}\n`)
  }
  expect(Object.keys(DEAREST).filter((key) => !routes.some(({ method, path }) => `${method} ${path}` === key))).toEqual(
    [],
  )
})
