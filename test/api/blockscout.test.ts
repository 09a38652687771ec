import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRankingWorker, refreshRanking } from '../../src/db/registry/ranking.js'
import type { LeaderContext } from '../../src/ops/context.js'
import { encodeChange, type SignedChange } from '../../src/registry/journal/change.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { addressToWord } from '../../src/registry/primitives/address.js'
import { storedOf } from '../support/airdrop.js'
import { bid, MINIMUM_WEI, randomAddress, START_MS, secondApi, useApi } from './support.js'
import { solanaAccount } from './wallets.js'

/** Requests as Blockscout's frontend makes them, and answers as its components read them. */

const NAMES = 1_000
const BUNDLES = 100
const ETHER = 10n ** 18n
/** More than fits 64 bits, with no zero byte below. */
const HUGE_WEI = 2n ** 200n - 1n
const BITCOIN = ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa']
const COSMOS = 'cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu'

const world = useApi()

const change = (content: SignedChange): Entry => ({
  kind: content.kind,
  position: null,
  txKey: null,
  causeMs: START_MS,
  body: encodeChange(content),
})

const addressOf = (bundle: number) => `0x${(bundle + 1).toString(16).padStart(40, '0')}`
const nameOf = (i: number) => `name-${String(i).padStart(4, '0')}`
const alice = addressOf(0)
const bob = addressOf(1)
const member = randomAddress()
const referrer = randomAddress()
let aliceId: string

/** A request of its `useApiFetch`: one parameter, percent-encoded JSON, no header of its own. */
const ask = (path: string, input: object, more = '') =>
  world.get(`${path}?input=${encodeURIComponent(JSON.stringify(input))}${more}`)

const search = async (query: string, offset = 0) => {
  const orderBy = query === '' ? 'createdAt-desc' : 'name-asc'
  const { status, body } = await ask('/v1/trpc/names.search', { offset, limit: 50, orderBy, query })
  expect(status).toBe(200)
  return DIRECTORY.parse(body).result.data
}
const rank = async (offset = 0) => {
  const input = { offset, limit: 50, orderBy: 'rank-asc' }
  return LEADERBOARD.parse((await ask('/v1/trpc/names.leaderboard', input)).body).result.data
}
const nameByGet = async (name: string) => {
  const { status, body } = await ask('/v1/trpc/names.get', { name })
  expect(status).toBe(200)
  return NAME.parse(body).result.data
}
const refresh = () => refreshRanking(world.pool, 'mainnet')

beforeAll(async () => {
  const bids = Array.from({ length: NAMES }, (_, i) =>
    bid({
      from: addressOf(i % BUNDLES),
      name: nameOf(i),
      atMs: START_MS + i * 1_000,
      amountWei: i === 0 ? HUGE_WEI : MINIMUM_WEI,
    }),
  )
  await world.append('mainnet', bids)
  aliceId = (await world.get(`/v1/clusters/address/${alice}`)).body.clusterId
  const wallets = [solanaAccount().address, ...BITCOIN, COSMOS].map((address, i) => ({
    address: storedOf(address),
    name: `wallet-${i}`,
    isPrivate: false,
  }))
  const rules = { prices: [], ownersOnly: false, startsAtMs: null, requirements: [] }
  const community = nameOf(0)
  const below = { community, wallet: storedOf(member), met: null, isAssigned: false }
  await world.append('mainnet', [
    change({ kind: 'add_wallets', actor: storedOf(alice), wallets }),
    change({ kind: 'configure_community', actor: storedOf(alice), community, rules }),
    ...['member', 'memory', 'other'].map((name) =>
      change({ kind: 'register_community_name', actor: storedOf(member), name, ...below }),
    ),
  ])
  await refresh()
})

/** Texts that its date parser takes in every browser. */
const time = z.iso.datetime()
const digits = z.string().regex(/^\d+$/)
const resultOf = <Data extends z.ZodType>(data: Data) =>
  z.strictObject({ result: z.strictObject({ data }) })
const ofName = {
  name: z.string().min(1),
  owner: z.string(),
  clusterId: z.string(),
  totalWeiAmount: digits,
  expiresAt: z.null(),
  createdAt: time,
  updatedAt: time,
  updatedBy: z.string(),
  isTestnet: z.boolean(),
}
const DIRECTORY = resultOf(
  z.strictObject({
    total: z.int(),
    items: z.array(z.strictObject({ ...ofName, chainIds: z.array(z.string()) })),
  }),
)
const LEADERBOARD = resultOf(
  z.array(
    z.strictObject({
      rank: z.int().min(1),
      name: z.string().min(1),
      clusterId: z.string(),
      nameCount: digits,
      totalWeiAmount: digits,
      totalReferralAmount: digits,
      // its length is read without a guard
      chainIds: z.array(z.string()),
      isTestnet: z.boolean(),
    }),
  ),
)
const NAME = resultOf(
  z.strictObject({ ...ofName, backingWei: digits, chainIds: z.array(z.string()) }).nullable(),
)
const OWNED = resultOf(z.array(z.strictObject(ofName)))
const CLUSTER = resultOf(
  z.strictObject({
    id: z.string(),
    createdBy: z.string(),
    createdAt: time,
    wallets: z.array(
      z.strictObject({ address: z.string(), name: z.string(), chainIds: z.array(z.string()) }),
    ),
    isTestnet: z.boolean(),
  }),
)

describe('the directory', () => {
  it('lists all names of clusters, newest first, on pages of fifty', async () => {
    const first = await search('')
    expect(first.total).toBe(NAMES)
    expect(first.items.map(({ name }) => name)).toEqual(
      Array.from({ length: 50 }, (_, i) => nameOf(NAMES - 1 - i)),
    )
    const last = await search('', NAMES - 20)
    expect(last.items).toHaveLength(20)
    expect(last.items.at(-1)).toEqual({
      name: nameOf(0),
      owner: alice,
      clusterId: aliceId,
      expiresAt: null,
      createdAt: '2026-11-20T08:00:00.123Z',
      updatedAt: '2026-11-20T08:00:00.123Z',
      updatedBy: alice,
      isTestnet: false,
      totalWeiAmount: String(HUGE_WEI),
      // two kinds of addresses of Bitcoin are one chain
      chainIds: ['31337', 'bitcoin', 'cosmos', 'solana'],
    })
    expect((await search('', 10_000)).items).toEqual([])
  })

  it('finds the names that begin with a text, as it was typed', async () => {
    const found = await search(' NAME-00')
    expect(found.total).toBe(100)
    expect(found.items.map(({ name }) => name)).toEqual(
      Array.from({ length: 50 }, (_, i) => nameOf(i)),
    )
    expect((await search('name-0999')).items.map(({ name }) => name)).toEqual([nameOf(999)])
    for (const text of ['nobody', 'a b', 'ö', 'name%', 'a/b/c'])
      expect(await search(text), text).toEqual({ total: 0, items: [] })
  })

  it('finds names below a community only by a text with its slash', async () => {
    const { total, items } = await search(`${nameOf(0)}/mem`)
    expect([total, items.map(({ name }) => name)]).toEqual([
      2,
      [`${nameOf(0)}/member`, `${nameOf(0)}/memory`],
    ])
    expect(items[0]).toMatchObject({ owner: member, totalWeiAmount: '0', chainIds: ['31337'] })
    expect((await search(`${nameOf(0)}/memory/`)).items.map(({ name }) => name)).toEqual([
      `${nameOf(0)}/memory`,
    ])
    expect((await search('member')).total).toBe(0)
  })

  it('takes absent and null fields', async () => {
    for (const input of [{}, { offset: null, limit: null, orderBy: null, query: null }]) {
      const { body } = await ask('/v1/trpc/names.search', input)
      expect(DIRECTORY.parse(body).result.data.items[0]!.name).toBe(nameOf(NAMES - 1))
    }
  })

  it('counts a new name at once, before and after it is counted in the background', async () => {
    await world.append('testnet', [bid({ from: bob, name: 'first' })])
    const total = async () =>
      (await ask('/v1/trpc/names.search', {}, '&testnet=true')).body.result.data.total
    expect(await total()).toBe(1)
    await refreshRanking(world.pool, 'testnet')
    expect(await total()).toBe(1)
    // the second bid for a name loses
    await world.append(
      'testnet',
      ['second', 'second'].map((name) => bid({ from: bob, name })),
    )
    expect(await total()).toBe(2)
  })
})

describe('the leaderboard', () => {
  it('ranks by the sum of winning bids, then by their number, then by age', async () => {
    const first = await rank()
    expect(first).toHaveLength(50)
    expect(first[0]).toEqual({
      rank: 1,
      name: nameOf(0),
      clusterId: aliceId,
      nameCount: '10',
      totalWeiAmount: String(HUGE_WEI + 9n * MINIMUM_WEI),
      totalReferralAmount: '0',
      chainIds: ['31337', 'bitcoin', 'cosmos', 'solana'],
      isTestnet: false,
    })
    expect(first.map(({ name }) => name)).toEqual(Array.from({ length: 50 }, (_, i) => nameOf(i)))
    expect((await rank(50)).map((one) => one.rank)).toEqual(
      Array.from({ length: 50 }, (_, i) => 51 + i),
    )
    expect(await rank(BUNDLES)).toEqual([])

    const few = randomAddress()
    const many = randomAddress()
    await world.append('mainnet', [
      bid({ from: few, name: 'few', amountWei: 2n * ETHER }),
      bid({ from: many, name: 'many-1', amountWei: ETHER }),
      bid({ from: many, name: 'many-2', amountWei: ETHER }),
      // loses, and counts for nobody
      bid({ from: few, name: 'many-2', amountWei: 5n * ETHER }),
    ])
    expect((await rank())[1]!.name).toBe(nameOf(1))
    await refresh()
    expect((await rank()).slice(0, 4).map(({ name }) => name)).toEqual([
      nameOf(0),
      'many-1',
      'few',
      nameOf(1),
    ])
  })

  it('is ranked by a worker', async () => {
    await world.append('mainnet', [bid({ from: randomAddress(), name: 'late', amountWei: ETHER })])
    const context = { pool: world.pool, network: 'mainnet' } as unknown as LeaderContext
    const step = () => createRankingWorker(context).step(new AbortController().signal, () => {})
    await step()
    expect((await rank())[3]).toMatchObject({ name: 'late', rank: 4 })
  })
})

describe('a name', () => {
  it('is shown with its backing', async () => {
    expect(await nameByGet(nameOf(0).toUpperCase())).toEqual({
      name: nameOf(0),
      owner: alice,
      clusterId: aliceId,
      backingWei: String(HUGE_WEI),
      totalWeiAmount: String(HUGE_WEI),
      chainIds: ['31337', 'bitcoin', 'cosmos', 'solana'],
      expiresAt: null,
      createdAt: '2026-11-20T08:00:00.123Z',
      updatedAt: '2026-11-20T08:00:00.123Z',
      updatedBy: alice,
      isTestnet: false,
    })
    expect(await nameByGet(`${nameOf(0)}/member/`)).toMatchObject({
      name: `${nameOf(0)}/member`,
      owner: member,
      clusterId: '',
      backingWei: '0',
    })
  })

  it.each(['nobody', `${nameOf(0)}/main`, `${nameOf(0)}/nobody`, 'x/y/z', '..', 'a%2Fb', '', 'ö'])(
    'is null where nobody holds it: %s',
    async (name) => expect(await nameByGet(name)).toBe(null),
  )
})

it('an address has its names, below communities too', async () => {
  const names = async (address: string) => {
    const { status, body } = await ask('/v1/trpc/names.getNamesByOwnerAddress', { address })
    expect(status).toBe(200)
    return OWNED.parse(body).result.data
  }
  const owned = await names(alice.toUpperCase().replace('0X', '0x'))
  expect(owned).toHaveLength(10)
  expect(owned[0]).toEqual({
    name: nameOf(0),
    owner: alice,
    totalWeiAmount: String(HUGE_WEI),
    createdAt: '2026-11-20T08:00:00.123Z',
    updatedAt: '2026-11-20T08:00:00.123Z',
    updatedBy: alice,
    isTestnet: false,
    clusterId: aliceId,
    expiresAt: null,
  })
  expect((await names(member)).map(({ name, clusterId }) => [name, clusterId])).toEqual(
    ['member', 'memory', 'other'].map((name) => [`${nameOf(0)}/${name}`, '']),
  )
  expect(await names(randomAddress())).toEqual([])
  expect(await names('nonsense')).toEqual([])
})

it('a cluster has its public wallets with their chains', async () => {
  const { body } = await ask('/v1/trpc/clusters.getClusterById', { id: aliceId })
  const { wallets, ...cluster } = CLUSTER.parse(body).result.data
  expect(cluster).toEqual({
    id: aliceId,
    createdBy: alice,
    createdAt: '2026-11-20T08:00:00.123Z',
    isTestnet: false,
  })
  expect(wallets[0]).toEqual({ address: alice, name: 'main', chainIds: ['31337'] })
  expect(wallets.map(({ chainIds }) => chainIds).sort()).toEqual(
    [['31337'], ['bitcoin'], ['bitcoin'], ['cosmos'], ['solana']].sort(),
  )
})

/** Requests about the bundle that lists private wallets in the next test. */
const ALL: readonly (readonly [string, object])[] = [
  ['/v1/trpc/names.search', { offset: 0, limit: 50, orderBy: 'name-asc', query: nameOf(1) }],
  ['/v1/trpc/names.search', { offset: 900, limit: 50, orderBy: 'createdAt-desc', query: '' }],
  ['/v1/trpc/names.leaderboard', { offset: 0, limit: 50, orderBy: 'rank-asc' }],
  ['/v1/trpc/names.get', { name: nameOf(1) }],
  ['/v1/trpc/names.getNamesByOwnerAddress', { address: bob }],
]

it('private wallets change no byte', async () => {
  const bobId = (await world.get(`/v1/clusters/address/${bob}`)).body.clusterId
  const requests = [...ALL, ['/v1/trpc/clusters.getClusterById', { id: bobId }] as const]
  const answers = async () => {
    // a process without cached responses
    const fresh = await secondApi(world, { chains: world.chains })
    try {
      const urls = requests.map(
        ([path, input]) => `${fresh.url}${path}?input=${encodeURIComponent(JSON.stringify(input))}`,
      )
      return await Promise.all(urls.map(async (url) => (await fetch(url)).text()))
    } finally {
      await fresh.stop()
    }
  }
  const before = await answers()
  const hidden = [solanaAccount().address, COSMOS, randomAddress()]
  await world.append('mainnet', [
    change({
      kind: 'add_wallets',
      actor: storedOf(bob),
      wallets: hidden.map((address, i) => ({
        address: storedOf(address),
        name: `hidden-${i}`,
        isPrivate: true,
      })),
    }),
    change({
      kind: 'verify_wallet',
      actor: storedOf(hidden[0]!),
      clusterId: Buffer.from(bobId.slice(2), 'hex'),
    }),
  ])
  const { rows } = await world.pool.query('SELECT verified FROM wallets WHERE private')
  expect(rows.map(({ verified }) => verified).sort()).toEqual([false, false, true])
  await refresh()
  expect(await answers()).toEqual(before)
})

describe('referrals', () => {
  const of = async (path: string) => (await world.get(path)).body

  it('count and sum winning bids by the cluster or address in their logs', async () => {
    const cluster = Buffer.from(aliceId.slice(2), 'hex')
    const wallet = addressToWord(storedOf(referrer))
    await world.append('mainnet', [
      bid({ from: randomAddress(), name: 'led-1', referral: cluster }),
      bid({ from: randomAddress(), name: 'led-2', amountWei: ETHER, referral: cluster }),
      bid({ from: randomAddress(), name: 'led-2', amountWei: ETHER, referral: cluster }),
      bid({ from: randomAddress(), name: 'led-3', referral: wallet }),
    ])
    await refresh()
    expect(await of(`/v1/names/referrals/cluster/${aliceId}`)).toEqual({
      count: 2,
      totalWeiAmount: String(ETHER + MINIMUM_WEI),
    })
    expect(await of(`/v1/names/referrals/address/${referrer}`)).toEqual({
      count: 1,
      totalWeiAmount: String(MINIMUM_WEI),
    })
    expect((await rank())[0]!.totalReferralAmount).toBe(String(ETHER + MINIMUM_WEI))
    expect(await of(`/v1/names/referrals/address/${alice}`)).toEqual({
      count: 0,
      totalWeiAmount: '0',
    })
  })

  it('vanish with their bids', async () => {
    await world.pool.query(`UPDATE names SET outcome = 2 WHERE name = 'led-3'`)
    await refresh()
    expect(await of(`/v1/names/referrals/address/${referrer}`)).toMatchObject({ count: 0 })
  })

  it.each([
    ['cluster/x', 'invalid_request'],
    ['address/x', 'unsupported_address'],
  ])('refuse %s', async (path, error) => {
    expect(await of(`/v1/names/referrals/${path}`)).toMatchObject({ status: 400, error })
  })
})
