import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expiredProofExample } from '../../src/api/examples.js'
import type { LimitSettings } from '../../src/api/limits/gate.js'
import { addApiKey } from '../../src/db/auth/apiKeys.js'
import { apiKeyHash, apiKeyText } from '../../src/registry/auth/apiKey.js'
import { memberOf } from './members.js'
import {
  type ApiWorld,
  bid,
  freshName,
  limitsOf,
  type Reply,
  randomAddress,
  START_MS,
  secondApi,
  startApi,
  stillBucket,
} from './support.js'

/** Rate at which a bucket of `n` per day gives one thing back: longer than any test. */
const DAY_MS = 86_400_000
const CHANGES_PER_DAY = 1_000
/** Limits that no test reaches, unless it sets its own. */
const limits = (own: Partial<LimitSettings> = {}): LimitSettings =>
  limitsOf(100_000, { changesPerDay: CHANGES_PER_DAY, ...own })

let world: ApiWorld
const worlds: ApiWorld[] = []
async function limitedWorld(own: Partial<LimitSettings>): Promise<ApiWorld> {
  const world = await startApi({ limits: limits(own) })
  worlds.push(world)
  return world
}
beforeAll(async () => {
  world = await limitedWorld({})
})
afterAll(() => Promise.all(worlds.map((world) => world.stop())))

const codeOf = ({ status, body }: Reply) => [status, body.error]
const limitOf = ({ headers }: Reply) => /^"([a-z-]+)";r=0/.exec(headers.get('ratelimit') ?? '')?.[1]
const eventsOf = async (world: ApiWorld, from: string): Promise<number> =>
  (await world.get(`/v1/events?from=${from}`)).body.items.length

/** Units of its daily changes that a wallet has spent. */
async function spentOf(world: ApiWorld, address: string, network = 'mainnet'): Promise<number> {
  const { rows } = await world.pool.query(
    `SELECT full_ms - extract(epoch FROM clock_timestamp()) * 1000 AS owed FROM limit_buckets
     WHERE bucket LIKE $1`,
    [`changes-a-day ${network} %${address.slice(2)}`],
  )
  return rows[0] ? Math.ceil(Number(rows[0].owed) / (DAY_MS / CHANGES_PER_DAY)) : 0
}

describe('changes of a wallet', () => {
  it('cost one unit per event, at least one', async () => {
    const member = await memberOf(world)
    const other = randomAddress()
    await member.call('POST', '/v1/clusters/wallets', [{ address: other, name: 'one' }])
    const added = await eventsOf(world, member.address)
    expect(await spentOf(world, member.address)).toBe(added)
    await member.call('PUT', '/v1/clusters/wallets/names', [{ address: other, name: 'two' }])
    await member.call('PUT', '/v1/clusters/wallets/names', [{ address: other, name: 'two' }])
    expect(await eventsOf(world, member.address)).toBe(added + 1)
    expect(await spentOf(world, member.address)).toBe(added + 2)
  })

  it('cost the rows that they write where they have no public event', async () => {
    const member = await memberOf(world)
    await member.create()
    const before = await spentOf(world, member.address)
    await member.call(
      'POST',
      '/v1/clusters/wallets',
      [1, 2, 3].map((n) => ({ address: randomAddress(), name: `w${n}`, isPrivate: true })),
    )
    expect(await spentOf(world, member.address)).toBe(before + 3)
  })

  it('are counted separately on each network', async () => {
    const member = await memberOf(world)
    await member.call('POST', '/v1/clusters?testnet=true')
    expect(await spentOf(world, member.address, 'testnet')).toBeGreaterThan(0)
    expect(await spentOf(world, member.address)).toBe(0)
  })

  it('cost nothing when they are refused', async () => {
    const member = await memberOf(world)
    expect(
      (
        await member.call('PUT', '/v1/clusters/wallets/names', [
          { address: randomAddress(), name: 'x' },
        ])
      ).status,
    ).toBe(404)
    expect(await spentOf(world, member.address)).toBe(0)
  })
})

it('a batch above the limit per minute is made, and delays the next change', async () => {
  const world = await limitedWorld({ changesPerMinute: 2 })
  const member = await memberOf(world)
  const wallets = Array.from({ length: 60 }, (_, n) => ({
    address: randomAddress(),
    name: `w${n}`,
  }))
  expect((await member.call('POST', '/v1/clusters/wallets', wallets)).status).toBe(200)
  const events = await eventsOf(world, member.address)
  const refused = await member.call('PUT', '/v1/clusters/wallets/names', [
    { address: wallets[0]!.address, name: 'other' },
  ])
  expect([...codeOf(refused), limitOf(refused)]).toEqual([429, 'rate_limited', 'changes-a-minute'])
  expect(refused.headers.get('ratelimit-policy')).toMatch(/^"changes-a-minute";q=2;w=60, "address"/)
  // half a minute for each event, minus the time that has passed
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(25 * wallets.length)
  expect(await eventsOf(world, member.address)).toBe(events)
})

it('changes and sign-ins continue when the database’s clock was set back, and their limits start anew', async () => {
  const world = await limitedWorld({ changesPerMinute: 1, address: stillBucket(60) })
  const member = await memberOf(world)
  await member.create()
  const other = randomAddress()
  expect(
    (await member.call('POST', '/v1/clusters/wallets', [{ address: other, name: 'one' }])).status,
  ).toBe(429)
  // has the same effect as setting the clock back by a day
  await world.pool.query(
    'UPDATE limit_buckets SET full_ms = full_ms + 864e5, at_ms = at_ms + 864e5',
  )
  expect(
    (await member.call('POST', '/v1/clusters/wallets', [{ address: other, name: 'one' }])).status,
  ).toBe(200)
  expect((await memberOf(world)).address).toMatch(/^0x/)
  const { rows } =
    await world.pool.query(`SELECT full_ms > extract(epoch FROM now() + '12 hours') * 1000 AS late
    FROM limit_buckets WHERE bucket LIKE 'changes-a-minute%' OR bucket LIKE 'sign-ins%'`)
  expect(rows.length).toBeGreaterThan(1)
  expect(
    (await member.call('PUT', '/v1/clusters/wallets/names', [{ address: other, name: 'two' }]))
      .status,
  ).toBe(429)
})

it('the daily limit of changes counts all processes together', async () => {
  const world = await limitedWorld({ changesPerDay: 5 })
  const second = await secondApi(world, { limits: limits({ changesPerDay: 5 }) })
  const member = await memberOf(world)
  await member.create()
  const made = await eventsOf(world, member.address)
  const there = { ...member.headers, 'content-type': 'application/json' }
  const rename = (n: number) =>
    fetch(`${n % 2 ? world.url : second.url}/v1/clusters/wallets/names`, {
      method: 'PUT',
      headers: there,
      body: JSON.stringify([{ address: member.address, name: `name-${n}` }]),
    })
  const statuses: number[] = []
  for (let n = 0; n < 6 - made; n++) statuses.push((await rename(n)).status)
  expect(statuses).toEqual([...Array(5 - made).fill(200), 429])
  expect((await rename(7)).status).toBe(429)
  expect((await rename(8)).status).toBe(429)
  expect(await eventsOf(world, member.address)).toBe(5)
  const other = await memberOf(world)
  expect(await other.create()).toMatch(/^0x/)
  await second.stop()
})

it('the limit of an address counts changes of all its wallets, with any key but the operator’s', async () => {
  const world = await limitedWorld({ changesPerDay: 1 })
  const one = await memberOf(world)
  const two = await memberOf(world)
  const three = await memberOf(world)
  const many = () =>
    Array.from({ length: 60 }, (_, n) => ({ address: randomAddress(), name: `w${n}` }))
  expect((await one.call('POST', '/v1/clusters/wallets', many())).status).toBe(200)
  two.headers['x-api-key'] = (await two.call('POST', '/v1/keys', { name: 'mine' })).body.key
  expect(await eventsOf(world, two.address)).toBe(0)
  const refused = await two.call('POST', '/v1/clusters/wallets', many())
  expect([...codeOf(refused), limitOf(refused)]).toEqual([
    429,
    'rate_limited',
    'changes-of-address',
  ])
  expect(await eventsOf(world, two.address)).toBe(0)
  // refused without waiting in the queue, like every other wallet of the address
  expect(limitOf(await three.call('POST', '/v1/clusters/wallets', many()))).toBe(
    'changes-of-address',
  )
  const key = apiKeyText(randomBytes(32))
  const raised = { wallet: null, name: 'shop', perSecond: 500, burst: 3_000, createdMs: 1 }
  await addApiKey(world.pool, { keyHash: apiKeyHash(key)!, ...raised })
  two.headers['x-api-key'] = key
  expect((await two.call('POST', '/v1/clusters/wallets', many())).status).toBe(200)
})

it('new clusters have a daily limit', async () => {
  const world = await limitedWorld({ clustersPerDay: 2 })
  const member = await memberOf(world)
  for (let n = 0; n < 2; n++) {
    expect(await member.create()).toMatch(/^0x/)
    expect((await member.call('DELETE', '/v1/clusters/wallets', [member.address])).status).toBe(200)
  }
  const refused = await member.call('POST', '/v1/clusters')
  expect([...codeOf(refused), limitOf(refused)]).toEqual([429, 'rate_limited', 'clusters-a-day'])
  expect((await world.pool.query('SELECT FROM clusters')).rowCount).toBe(2)
})

it('names below free communities have a daily limit', async () => {
  const world = await limitedWorld({ namesPerDay: 2 })
  const community = freshName()
  const owner = await memberOf(world)
  await world.append('mainnet', [bid({ from: owner.address, name: community, atMs: START_MS + 1 })])
  expect((await owner.call('PUT', `/v1/communities/${community}`, {})).status).toBe(200)
  const member = await memberOf(world)
  const register = (name: string) =>
    member.call('POST', `/v1/names/community/${community}/register`, {
      name,
      walletAddress: member.address,
    })
  expect([(await register('a')).status, (await register('b')).status]).toEqual([200, 200])
  const refused = await register('c')
  expect([...codeOf(refused), limitOf(refused)]).toEqual([429, 'rate_limited', 'names-a-day'])
  expect((await world.pool.query('SELECT FROM community_names')).rowCount).toBe(2)
})

describe('rules of a community', () => {
  const rulesOf = (addresses: number) => ({
    requirements: [
      { kind: 'allowlist', addresses: Array.from({ length: addresses }, randomAddress) },
    ],
  })

  it('cost by their length, because every version may be read to decide a payment', async () => {
    const owner = await memberOf(world)
    const community = freshName()
    await world.append('mainnet', [
      bid({ from: owner.address, name: community, atMs: START_MS + 1 }),
    ])
    expect((await owner.call('PUT', `/v1/communities/${community}`, {})).status).toBe(200)
    const before = await spentOf(world, owner.address)
    expect(before).toBe(1)
    expect((await owner.call('PUT', `/v1/communities/${community}`, rulesOf(1_000))).status).toBe(
      200,
    )
    expect((await spentOf(world, owner.address)) - before).toBeGreaterThan(20)
  })

  it('have one limit for all owners of the community', async () => {
    const world = await limitedWorld({ changesPerDay: 80 })
    const owner = await memberOf(world)
    const partner = await memberOf(world)
    const community = freshName()
    await world.append('mainnet', [
      bid({ from: owner.address, name: community, atMs: START_MS + 1 }),
    ])
    await owner.call('POST', '/v1/clusters/wallets', [
      { address: partner.address, name: 'partner' },
    ])
    const { id } = (await world.get(`/v1/clusters/name/${community}`)).body
    await partner.call('POST', `/v1/clusters/verify/${id}`)
    const set = (as: typeof owner) => as.call('PUT', `/v1/communities/${community}`, rulesOf(1_000))
    expect((await set(owner)).status).toBe(200)
    const statuses = [(await set(partner)).status, (await set(partner)).status]
    expect(statuses).toEqual([429, 429])
  })
})

it('the limit of sign-ins counts an address over all processes, and its full buckets are deleted', async () => {
  const own = { address: stillBucket(30) }
  const world = await limitedWorld(own)
  const second = await secondApi(world, { limits: limits(own) })
  const signIn = async (url: string) => {
    const body = JSON.stringify(expiredProofExample.body)
    const response = await fetch(`${url}/v1/auth/token`, { method: 'POST', body })
    return [response.status, /^"([a-z-]+)";r=0/.exec(response.headers.get('ratelimit') ?? '')?.[1]]
  }
  await world.pool.query(
    `INSERT INTO limit_buckets SELECT 'old ' || n, n FROM generate_series(1, 8) n`,
  )
  expect(await signIn(world.url)).toEqual([401, undefined])
  // as many buckets as a wallet makes that signs in once
  expect(
    (await world.pool.query(`SELECT FROM limit_buckets WHERE bucket LIKE 'old %'`)).rowCount,
  ).toBe(0)
  expect(await signIn(world.url)).toEqual([401, undefined])
  expect(await signIn(second.url)).toEqual([401, undefined])
  expect(await signIn(second.url)).toEqual([429, 'sign-ins'])
  const { rows } = await world.pool.query(`SELECT bucket FROM limit_buckets ORDER BY bucket`)
  expect(rows).toEqual([{ bucket: 'sign-ins 127.0.0.1' }])
  await second.stop()
})
