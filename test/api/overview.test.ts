import { setTimeout as sleep } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOverviews } from '../../src/api/overview/overview.js'
import { type ApiWorld, bid, freshName, randomAddress, START_MS, startApi } from './support.js'
import { signIn, solanaAccount } from './wallets.js'

const DAY_MS = 86_400_000
/** Longer than an overview serves whose count a busy machine held up for a second. */
const WAIT_MS = 60_000

let world: ApiWorld
beforeAll(async () => {
  world = await startApi()
})
afterAll(() => world.stop())

const read = async (query = '') => (await world.get(`/v1/overview${query}`)).body
const settled = (expected: object) => expect.poll(() => read(), { timeout: WAIT_MS }).toMatchObject(expected)

describe('GET /v1/overview', () => {
  it('counts names by the day of their block, and no bid that lost', async () => {
    const name = freshName()
    await world.append('testnet', [
      bid({ from: randomAddress(), name: freshName(), atMs: START_MS }),
      bid({ from: randomAddress(), name: freshName(), atMs: START_MS + 30 * DAY_MS }),
      bid({ from: randomAddress(), name, atMs: START_MS + 32 * DAY_MS }),
      bid({ from: randomAddress(), name, atMs: START_MS + 32 * DAY_MS }),
    ])
    const now = () => START_MS + 32 * DAY_MS
    const overview = createOverviews({ pool: world.pool, chains: [], solana: [], now })
    const { counts, days } = await overview('testnet')
    expect(counts).toEqual({ names: 3, clusters: 3, communities: 0, communityNames: 0, events: 9 })
    expect(days).toHaveLength(30)
    expect(days.filter(({ registrations }) => registrations > 0)).toEqual([
      { day: '2026-12-20', registrations: 1 },
      { day: '2026-12-22', registrations: 1 },
    ])
    expect(days.at(-1)!.day).toBe('2026-12-22')
    expect(await read()).toMatchObject({ isTestnet: false, counts: { names: 0 } })
  })

  it('counts a day anew until a later one has begun', async () => {
    const day = (n: number) => START_MS + (40 + n) * DAY_MS
    const overviewAt = async (now: number, from = overviews) => {
      clock = now
      const { days } = await from('testnet')
      return days.map(({ registrations }) => registrations).slice(-3)
    }
    let clock = 0
    const sources = { pool: world.pool, chains: [], solana: [], now: () => clock }
    // each has kept nothing yet; the first keeps days
    const overviews = createOverviews(sources)
    const again = () => createOverviews(sources)
    const register = (atMs: number) =>
      world.append('testnet', [bid({ from: randomAddress(), name: freshName(), atMs })])
    await register(day(0))
    expect(await overviewAt(day(1))).toEqual([0, 1, 0])
    // a block of the day before that is confirmed after midnight
    await register(day(0) + 1)
    await expect.poll(() => overviewAt(day(1)), { timeout: WAIT_MS }).toEqual([0, 2, 0])
    await register(day(1))
    await register(day(2))
    await expect.poll(() => overviewAt(day(2)), { timeout: WAIT_MS }).toEqual([2, 1, 1])
    await register(day(2))
    await expect.poll(() => overviewAt(day(2)), { timeout: WAIT_MS }).toEqual([2, 1, 2])
    expect(await overviewAt(day(2), again())).toEqual([2, 1, 2])
  })

  it('lists the network’s chains, also those that nobody reads yet', async () => {
    const { chains } = await read()
    expect(chains).toEqual([{ network: '1', block: null, confirmed: null, behindSeconds: null, isHealthy: false }])
  })

  it('has no private wallet in any number', async () => {
    const post = (path: string, headers: Record<string, string>, body?: unknown) =>
      world.request(path, { method: 'POST', headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    const owner = await signIn(world, privateKeyToAccount(`0x${'6b'.repeat(32)}`))
    expect((await post('/v1/clusters', owner)).status).toBe(200)
    await settled({ counts: { clusters: 1 } })
    const before = await read()
    const hidden = { address: solanaAccount().address, name: 'hidden', isPrivate: true }
    expect((await post('/v1/clusters/wallets', owner, [hidden])).status).toBe(200)
    // a public change afterwards shows that the count is of a later moment
    const shown = { address: randomAddress(), name: 'shown', isPrivate: false }
    expect((await post('/v1/clusters/wallets', owner, [shown])).status).toBe(200)
    await settled({ counts: { ...before.counts, events: before.counts.events + 1 } })
  })

  it('counts again soon after one count that took long', async () => {
    const overview = createOverviews({ pool: world.pool, chains: [], solana: [], now: () => START_MS })
    const busy = await world.pool.connect()
    await busy.query('BEGIN; LOCK TABLE names_mainnet IN ACCESS EXCLUSIVE MODE')
    const slow = overview('mainnet')
    await new Promise((resolve) => setTimeout(resolve, 400))
    await busy.query('COMMIT')
    busy.release()
    const { names } = (await slow).counts
    await world.append('mainnet', [bid({ from: randomAddress(), name: freshName() })])
    const counted = async () => (await overview('mainnet')).counts.names
    await expect.poll(counted, { timeout: 8_000 }).toBe(names + 1)
  })

  it('is there again soon after a database that was long away', async () => {
    const overview = createOverviews({ pool: world.pool, chains: [], solana: [], now: () => START_MS })
    const holder = await world.pool.connect()
    await holder.query('BEGIN; LOCK TABLE journal_heads IN ACCESS EXCLUSIVE MODE')
    const away = overview('testnet').catch((error: Error) => error)
    await sleep(1_500)
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    await holder.query(end)
    expect(await away).toBeInstanceOf(Error)
    await holder.query('ROLLBACK')
    holder.release()
    const answer = () => overview('testnet').then(({ days }) => days.length)
    await expect.poll(() => answer().catch(() => 0), { timeout: 10_000 }).toBe(30)
  })
})
