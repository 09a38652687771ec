import { gcmsiv } from '@noble/ciphers/aes.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FeedEvent } from '../../src/client/types.js'
import { ZERO_ADDRESS } from '../../src/registry/journal/eventForms.js'
import type { Network } from '../../src/registry/primitives/network.js'
import { runsOf } from '../setup/tiers.js'
import { bid, freshName, MINIMUM_WEI, randomAddress, START_MS, useApi } from './support.js'

const NONCE = new Uint8Array(12)

const wallets = Array.from({ length: 5 }, randomAddress)
let clock = START_MS
let taken: string[] = []

const world = useApi()

/** Appends bids of a few wallets. Lost and refused bids have no event. */
async function grow(count: number, network: Network = 'mainnet'): Promise<void> {
  const entries = Array.from({ length: count }, (_, i) => {
    clock += (i % 3) * 10
    const from = wallets[(clock + i * 7) % wallets.length]!
    const isLost = i % 4 === 3 && taken.length > 0
    const name = isLost ? taken[i % taken.length]! : freshName()
    taken = [...taken.slice(-20), name]
    return bid({ from, name, atMs: clock, ...(i % 9 === 5 ? { amountWei: 1n } : {}) })
  })
  await world.append(network, entries)
}

const events = (query: Record<string, string | number>) =>
  world.get(
    `/v1/events?${new URLSearchParams(Object.entries(query).map(([k, v]): [string, string] => [k, String(v)]))}`,
  )

/** Walks the feed to its end, with a callback between pages. */
async function walk(
  query: Record<string, string | number>,
  limits: readonly number[] = [500],
  between: () => Promise<void> = async () => {},
): Promise<{ items: FeedEvent[]; resume: string }> {
  const items: FeedEvent[] = []
  let page: string | undefined
  for (let i = 0; ; i++) {
    const limit = limits[i % limits.length]!
    const { status, body } = await events(page ? { nextPage: page, limit } : { ...query, limit })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.items.length).toBeLessThanOrEqual(limit)
    items.push(...body.items)
    expect(body.resume).toEqual(expect.any(String))
    if (!body.nextPage) return { items, resume: body.resume }
    expect(body.items).toHaveLength(limit)
    page = body.nextPage
    await between()
  }
}

describe('GET /v1/events', () => {
  it('answers the events of a registration', async () => {
    const from = randomAddress()
    const name = freshName()
    const before = await walk({})
    await world.append('mainnet', [bid({ from, name, amountWei: MINIMUM_WEI * 2n, atMs: clock })])
    const { body } = await events({ nextPage: before.resume })
    const { clusterId } = (await world.get(`/v1/clusters/address/${from}`)).body
    const n = before.items.length
    const common = { from, isTestnet: false, timestamp: clock }
    const wallet = {
      name: 'main',
      address: from,
      cluster_id: clusterId,
      is_verified: true,
      is_backed_up: false,
    }
    const registered = { name, wei_amount: (MINIMUM_WEI * 2n).toString(), cluster_id: clusterId }
    expect(body.items).toEqual([
      { ...common, id: `m-1-${n + 1}`, type: 'CREATE_CLUSTER', data: { cluster_id: clusterId } },
      { ...common, id: `m-1-${n + 2}`, type: 'ADD_WALLET', data: wallet },
      { ...common, id: `m-1-${n + 3}`, type: 'REGISTER_NAME', data: registered },
    ])
    expect(body.nextPage).toBeUndefined()
  })

  it('numbers events without gaps, in both orders, split anywhere', async () => {
    await grow(60)
    const whole = (await walk({})).items
    expect(whole.map(({ id }) => id)).toEqual(whole.map((_, i) => `m-1-${i + 1}`))
    expect(whole.map(({ timestamp }) => timestamp)).toEqual(
      whole.map((e) => e.timestamp).sort((a, b) => a - b),
    )
    const check = async (limits: number[]): Promise<void> => {
      expect((await walk({}, limits)).items).toEqual(whole)
      expect((await walk({ orderBy: 'newest' }, limits)).items).toEqual([...whole].reverse())
      expect((await walk({ sortBy: 'newest' }, limits)).items).toEqual([...whole].reverse())
    }
    await check([1, 2, 3])
    const limits = fc.array(fc.integer({ min: 3, max: 60 }), { minLength: 1, maxLength: 4 })
    await fc.assert(fc.asyncProperty(limits, check), { numRuns: runsOf(12) })
  })

  it('concatenates pages exactly while the feed grows', async () => {
    const limits = fc.array(fc.integer({ min: 5, max: 40 }), { minLength: 1, maxLength: 3 })
    const bursts = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(limits, bursts, async (sizes, growth) => {
        let i = 0
        const between = () => grow(growth[i++ % growth.length]!)
        const start = (await walk({})).items
        const newest = await walk({ orderBy: 'newest' }, sizes, between)
        expect(newest.items).toEqual([...start].reverse())
        const oldest = await walk({}, sizes, between)
        const after = (await walk({})).items
        expect(oldest.items).toEqual(after.slice(0, oldest.items.length))
        expect(oldest.items.length).toBeGreaterThanOrEqual(start.length)
        await grow(3)
        const rest = await events({ nextPage: oldest.resume })
        expect([...oldest.items, ...rest.body.items]).toEqual((await walk({})).items)
        // a newest-first walk ends at the first event, even if events are appended meanwhile
        expect((await events({ nextPage: newest.resume })).body.items).toEqual([])
      }),
      { numRuns: runsOf(6) },
    )
  })

  it('filters by actor', async () => {
    const whole = (await walk({})).items
    for (const from of wallets.slice(0, 2)) {
      const own = whole.filter((event) => event.from === from)
      expect(own.length, from).toBeGreaterThan(3)
      expect((await walk({ from }, [1, 4])).items, from).toEqual(own)
      const newest = await walk({ from, orderBy: 'newest' }, [3])
      expect(newest.items, from).toEqual([...own].reverse())
    }
    expect((await walk({ from: randomAddress() })).items).toEqual([])
    expect((await walk({ from: ZERO_ADDRESS })).items).toEqual([])
    expect((await events({ from: 'junk' })).body.error).toBe('unsupported_address')
  })

  it('shows hidden actors as the EVM zero address, and Solana’s zero key as itself', async () => {
    const from = randomAddress()
    const other = randomAddress()
    await world.append('mainnet', [bid({ from, name: freshName(), atMs: clock })])
    // an actor is hidden where a private wallet acted in a cluster without a public one
    await world.pool.query(
      'UPDATE journal SET actor = NULL WHERE network = 0 AND seq = (SELECT max(seq) FROM journal WHERE network = 0)',
    )
    expect((await events({ from: ZERO_ADDRESS })).body.items.length).toBeGreaterThan(0)
    expect((await events({ from: '1'.repeat(32) })).body.items).toEqual([])
    expect((await events({ from: other })).body.items).toEqual([])
    const actor = Buffer.concat([Buffer.of(1), Buffer.from(from.slice(2), 'hex')])
    await world.pool.query(
      'UPDATE journal SET actor = $1 WHERE network = 0 AND actor IS NULL AND public_count > 0',
      [actor],
    )
  })

  it('answers feed_restarted for tokens of an earlier version', async () => {
    const key = (await world.pool.query('SELECT page_key FROM deployment')).rows[0].page_key
    const bytes = Buffer.from(
      gcmsiv(key, NONCE).decrypt(Buffer.from((await walk({})).resume, 'base64url')),
    )
    bytes[0] = bytes[0]! - 1
    const nextPage = Buffer.from(gcmsiv(key, NONCE).encrypt(bytes)).toString('base64url')
    expect(await events({ nextPage })).toMatchObject({
      status: 409,
      body: { error: 'feed_restarted' },
    })
  })

  it('starts at a timestamp, inclusive, in both orders', async () => {
    const whole = (await walk({})).items
    const times = [...new Set(whole.map(({ timestamp }) => timestamp))]
    const at = fc.oneof(fc.constantFrom(...times), fc.integer({ min: START_MS - 5, max: clock }))
    await fc.assert(
      fc.asyncProperty(at, fc.integer({ min: 5, max: 100 }), async (fromTimestamp, limit) => {
        const late = whole.filter(({ timestamp }) => timestamp >= fromTimestamp)
        expect((await walk({ fromTimestamp }, [limit])).items).toEqual(late)
        expect((await walk({ fromTimestamp, orderBy: 'newest' }, [limit])).items).toEqual(
          [...late].reverse(),
        )
      }),
      { numRuns: runsOf(15) },
    )
    expect((await walk({ fromTimestamp: 0 })).items).toEqual(whole)
    // a token takes precedence over the timestamp
    const { body } = await events({ limit: 1 })
    const next = await events({ nextPage: body.nextPage, fromTimestamp: clock + 1, limit: 1 })
    expect(next.body.items).toEqual([whole[1]])
  })

  it('keeps a timestamp in the future', async () => {
    const fromTimestamp = clock + 1_000
    const oldest = (await events({ fromTimestamp })).body
    const newest = (await events({ fromTimestamp, orderBy: 'newest' })).body
    expect(oldest).toEqual({ items: [], resume: expect.any(String) })
    expect(newest).toEqual({ items: [], resume: expect.any(String) })
    await grow(2)
    const still = (await events({ nextPage: oldest.resume })).body
    expect(still.items).toEqual([])
    clock = fromTimestamp
    await world.append('mainnet', [bid({ from: randomAddress(), name: freshName(), atMs: clock })])
    for (const [name, { resume }] of Object.entries({ oldest, newest, still })) {
      const { body } = await events({ nextPage: resume })
      expect(body.items, name).toHaveLength(3)
      expect(body.items[0].timestamp, name).toBe(clock)
    }
  })

  it('keeps networks apart and takes the network from the token', async () => {
    await grow(4, 'testnet')
    const { items } = await walk({ testnet: 'true' }, [2])
    expect(items[0]).toMatchObject({ id: 't-1-1', isTestnet: true })
    const testnet = (await events({ testnet: 'true', limit: 1 })).body.nextPage
    expect((await events({ nextPage: testnet, limit: 1 })).body.items).toEqual([items[1]])
    expect((await events({ nextPage: testnet, testnet: 'true', limit: 1 })).body.items).toEqual([
      items[1],
    ])
    const mainnet = (await events({ limit: 1 })).body.nextPage
    expect((await events({ nextPage: mainnet, testnet: 'true' })).body.error).toBe('invalid_page')
  })

  it.each(['/v1/events', '/v0.1/events'])(
    '%s ignores fromTimestamp beside a page token',
    async (path) => {
      const { nextPage } = (await world.get(`${path}?limit=1`)).body
      const page = `${path}?limit=1&nextPage=${nextPage}`
      const { body } = await world.get(page)
      for (const from of ['0', '99999999999999', '1.5', '-1', 'abc'])
        expect(await world.get(`${page}&fromTimestamp=${from}`), from).toMatchObject({
          status: 200,
          body,
        })
    },
  )

  it('refuses tokens that were altered or contradict the request', async () => {
    const from = wallets[0]!
    const { nextPage } = (await events({ limit: 1, from, orderBy: 'oldest' })).body
    expect((await events({ nextPage, from, orderBy: 'oldest' })).status).toBe(200)
    const refused = async (query: Record<string, string>) =>
      expect(await events(query), JSON.stringify(query)).toMatchObject({
        status: 400,
        body: { error: 'invalid_page' },
      })
    await refused({ nextPage, orderBy: 'newest' })
    await refused({ nextPage, from: wallets[1]! })
    const everybodys = (await events({ limit: 1 })).body.nextPage
    await refused({ nextPage: everybodys, from })
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    await fc.assert(
      fc.asyncProperty(
        fc.nat(nextPage.length - 1),
        fc.constantFrom(...alphabet),
        async (i, letter) => {
          fc.pre(nextPage[i] !== letter)
          await refused({ nextPage: nextPage.slice(0, i) + letter + nextPage.slice(i + 1) })
        },
      ),
      { numRuns: runsOf(60) },
    )
    for (const token of [
      `${nextPage}=`,
      `${nextPage}A`,
      nextPage.slice(1),
      'x',
      'x'.repeat(3_000),
      '💥',
    ])
      await refused({ nextPage: token })
  })

  it('clamps a limit', async () => {
    expect((await events({ limit: 5_000 })).body.items.length).toBeLessThanOrEqual(1_000)
    expect((await events({ limit: '9'.repeat(100) })).status).toBe(200)
  })

  it.each(['0', '-1', '1.5', '1e2', 'x', '0x10', ' 1'])('refuses the limit "%s"', async (limit) => {
    expect(await events({ limit })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  })

  it.each(['', 'undefined'])('treats the limit "%s" as absent', async (limit) => {
    expect((await events({ limit })).status).toBe(200)
  })

  it.each(['orderBy=up', 'orderBy=oldest&sortBy=newest', 'fromTimestamp=-1', 'limit=1&limit=2'])(
    'refuses %s',
    async (query) => {
      expect((await world.get(`/v1/events?${query}`)).body.error).toBe('invalid_request')
    },
  )

  it('answers feed_restarted for tokens of an earlier generation', async () => {
    const tokens = {
      page: (await events({ limit: 1 })).body.nextPage,
      end: (await events({ fromTimestamp: clock + 9_999 })).body.resume,
    }
    // as after a rewind: the network's rows are in generation 2
    await world.pool.query('UPDATE journal SET generation = 2 WHERE network = 0')
    await world.pool.query(
      'UPDATE journal_heads SET generation = 2, feed_generation = 2 WHERE network = 0',
    )
    for (const [token, nextPage] of Object.entries(tokens))
      expect(await events({ nextPage }), token).toMatchObject({
        status: 409,
        body: { error: 'feed_restarted' },
      })
    expect((await events({ limit: 1 })).body.items[0].id).toBe('m-2-1')
  })
})
