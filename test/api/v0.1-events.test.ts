import bs58 from 'bs58'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CommunityChange, encodeChange } from '../../src/registry/journal/change.js'
import { parseAddress } from '../../src/registry/primitives/address.js'
import { countRows } from './longLists.js'
import { memberOf } from './members.js'
import { bid, freshName, MINIMUM_WEI, randomAddress, START_MS, useApi } from './support.js'

const solana = bs58.encode(Buffer.alloc(32, 7))

const world = useApi()
beforeAll(async () => {
  const owners = Array.from({ length: 5 }, randomAddress)
  const from = [...owners, solana, ...owners.slice(0, 3)]
  await world.append(
    'mainnet',
    from.map((wallet) => bid({ from: wallet, name: freshName() })),
  )
  await world.append('testnet', [bid({ from: randomAddress(), name: freshName() })])
})

describe('GET /v0.1/events', () => {
  const events = (query: Record<string, string | number>) =>
    world.get(
      `/v0.1/events?${new URLSearchParams(Object.entries(query).map(([k, v]): [string, string] => [k, `${v}`]))}`,
    )
  const walk = async (query: Record<string, string | number>, limit: number) => {
    const items: { eventType: string; timestamp: number }[] = []
    for (let page: string | undefined; ; ) {
      const { body } = await events(page ? { nextPage: page, limit } : { ...query, limit })
      items.push(...body.items)
      page = body.nextPage
      if (!page) return items
      expect(body.items).toHaveLength(limit)
    }
  }

  it('returns registrations and wallets in the old shape', async () => {
    const from = randomAddress()
    const name = freshName()
    const other = freshName()
    const before = (await events({ limit: 5_000 })).body
    const amountWei = 2n ** 64n + 1n
    const atMs = START_MS + 7_777
    await world.append('mainnet', [
      bid({ from, name, amountWei, atMs }),
      bid({ from: solana, name: other, atMs }),
    ])
    const { body } = await events({ nextPage: before.resume })
    const { clusterId } = body.items[0]
    expect(clusterId).toEqual(expect.any(Number))
    const bytes32Address = `0x${'0'.repeat(24)}${from.slice(2)}`
    const common = {
      clusterId,
      bytes32Address,
      address: from,
      addressType: 'evm',
      timestamp: Math.floor(atMs / 1_000),
    }
    expect(body.items).toEqual([
      { ...common, eventType: 'updateWallet', data: { name: 'main', isVerified: 1 } },
      { ...common, eventType: 'register', data: { name, weiAmount: Number(amountWei) } },
      {
        eventType: 'register',
        clusterId: expect.any(Number),
        bytes32Address: `0x${'07'.repeat(32)}`,
        address: solana,
        addressType: 'solana',
        data: { name: other, weiAmount: Number(MINIMUM_WEI) },
        timestamp: common.timestamp,
      },
    ])
    expect(body.nextPage).toBeUndefined()
    const text = await (await fetch(`${world.url}/v0.1/events?nextPage=${before.resume}`)).text()
    expect(text).toContain(`"weiAmount":${amountWei}}`)
  })

  it('fills every page but the last, in both orders, split anywhere', async () => {
    const whole = await walk({}, 5_000)
    expect(whole.length).toBeGreaterThan(12)
    const reversed = [...whole].reverse()
    for (const limit of [1, 2, 3, 7]) {
      expect(await walk({}, limit), `by ${limit}`).toEqual(whole)
      expect(await walk({ sortBy: 'newest' }, limit), `sortBy, by ${limit}`).toEqual(reversed)
      expect(await walk({ orderBy: 'newest' }, limit), `orderBy, by ${limit}`).toEqual(reversed)
    }
    const from = whole.at(-1)!.timestamp
    expect(await walk({ fromTimestamp: from }, 1)).toEqual(
      whole.filter(({ timestamp }) => timestamp >= from),
    )
    expect((await events({ fromTimestamp: from + 1 })).body).toEqual({
      items: [],
      resume: expect.any(String),
    })
    expect(await walk({ testnet: 'true' }, 1)).toHaveLength(2)
    // page tokens are valid in both versions
    const { nextPage } = (await events({ limit: 1 })).body
    expect((await world.get(`/v1/events?nextPage=${nextPage}&limit=1`)).body.items[0].type).toBe(
      'REGISTER_NAME',
    )
  })

  it('takes a limit of 1,000, and clamps it to 5,000', async () => {
    const owner = randomAddress()
    await world.append(
      'testnet',
      Array.from({ length: 5_010 }, () => bid({ from: owner, name: freshName() })),
    )
    expect((await events({ testnet: 'true' })).body.items).toHaveLength(1_000)
    for (const limit of [5_000, 5_001, '9'.repeat(100)])
      expect((await events({ testnet: 'true', limit })).body.items, `${limit}`).toHaveLength(5_000)
  })

  it.each(['0', '-1', '1.5', '1e2', 'x'])('refuses the limit %s', async (limit) => {
    expect(await events({ limit })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  })

  it.each(['', 'undefined'])('takes the limit "%s" for none', async (limit) => {
    expect((await events({ limit })).status).toBe(200)
  })

  it.each(['sortBy=up', 'fromTimestamp=-1', 'limit=1&limit=2', 'sortBy=oldest&orderBy=newest'])(
    'refuses %s',
    async (query) => {
      expect((await world.get(`/v0.1/events?${query}`)).body.error).toBe('invalid_request')
    },
  )

  it('continues a token of the testnet without testnet=true, with the amounts of the testnet', async () => {
    const name = freshName()
    const owner = privateKeyToAccount(generatePrivateKey())
    const amountWei = 3n * MINIMUM_WEI
    await world.append('testnet', [bid({ from: owner.address.toLowerCase(), name, amountWei })])
    // the same name on the mainnet, for another amount
    await world.append('mainnet', [bid({ from: randomAddress(), name })])
    const page = { testnet: 'true', limit: 5_000, orderBy: 'oldest' }
    let { nextPage, resume } = (await events(page)).body
    while (nextPage) ({ nextPage, resume } = (await events({ ...page, nextPage })).body)
    const other = await memberOf(world)
    const { id } = (await other.call('POST', '/v1/clusters?testnet=true')).body
    const listed = [{ address: owner.address, name: 'listed' }]
    await other.call('POST', '/v1/clusters/wallets?testnet=true', listed)
    const leaving = await memberOf(world, owner)
    expect((await leaving.call('POST', `/v1/clusters/verify/${id}?testnet=true`)).status).toBe(200)
    const withoutNetwork = await events({ nextPage: resume, limit: 5_000 })
    expect(withoutNetwork.status).toBe(200)
    const moved = withoutNetwork.body.items.find(
      ({ eventType }: { eventType: string }) => eventType === 'register',
    )
    expect(moved.data).toEqual({ name, weiAmount: Number(amountWei) })
    expect(withoutNetwork.body).toEqual(
      (await events({ nextPage: resume, limit: 5_000, testnet: 'true' })).body,
    )
  })

  it('refuses an invalid page token, and accepts any timestamp', async () => {
    expect((await events({ nextPage: 'junk' })).body.error).toBe('invalid_page')
    expect((await events({ fromTimestamp: '9'.repeat(60) })).body.items).toEqual([])
  })
  it('ends a page after 256 hidden entries, or twice its limit, with a token that continues', async () => {
    const owner = randomAddress()
    const community = freshName()
    const before = await walk({ orderBy: 'newest' }, 5_000)
    const { bytes: actor } = parseAddress(owner) as Exclude<ReturnType<typeof parseAddress>, string>
    const rules = { prices: [], ownersOnly: false, startsAtMs: null, requirements: [] }
    const hidden = (i: number): CommunityChange => ({
      kind: 'register_community_name',
      actor,
      community,
      name: `n${i}`,
      wallet: actor,
      met: null,
      isAssigned: false,
    })
    const changes = [
      { kind: 'configure_community', actor, community, rules } as const,
      ...Array.from({ length: 3_000 }, (_, i) => hidden(i)),
    ]
    const signed = { position: null, txKey: null, causeMs: START_MS + 9_000 }
    await world.append('mainnet', [bid({ from: owner, name: community, atMs: signed.causeMs })])
    await world.append(
      'mainnet',
      changes.map((change) => ({ kind: change.kind, ...signed, body: encodeChange(change) })),
    )
    for (const limit of [1, 300, 5_000]) {
      const shown = []
      let empty = 0
      let nextPage: string | undefined
      do {
        const rows = countRows(world.pool)
        const query: Record<string, string> = nextPage ? { nextPage } : { orderBy: 'newest' }
        const { status, body } = await events({ ...query, limit })
        // a statement of the feed also returns the head's row, and some others return a row
        expect([status, rows.sum() <= Math.max(256, 2 * limit) + 16]).toEqual([200, true])
        rows.end()
        if (body.items.length === 0) empty += 1
        expect(body.nextPage ?? body.resume).toBe(body.resume)
        shown.push(...body.items)
        nextPage = body.nextPage
      } while (nextPage !== undefined)
      expect(shown.slice(2), `limit ${limit}`).toEqual(before)
      expect(shown.slice(0, 2).map(({ eventType }) => eventType)).toEqual([
        'register',
        'updateWallet',
      ])
      expect(empty).toBeGreaterThanOrEqual(
        limit === 5_000 ? 0 : Math.floor(3_000 / Math.max(256, 2 * limit)) - 1,
      )
    }
  })
})
