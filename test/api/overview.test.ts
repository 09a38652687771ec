import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOverviews } from '../../src/api/overview/overview.js'
import { type ApiWorld, bid, freshName, randomAddress, START_MS, startApi } from './support.js'
import { signIn, solanaAccount } from './wallets.js'

const DAY_MS = 86_400_000
/** Longer than an overview of so few names serves. */
const WAIT_MS = 10_000

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
})
