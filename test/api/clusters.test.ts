import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Member, memberOf } from './members.js'
import { bid, expectReplayed, freshName, type Reply, randomAddress, useApi } from './support.js'
import { type SolanaAccount, solanaAccount } from './wallets.js'

const world = useApi()
afterAll(() => expectReplayed(world))

const member = (account?: SolanaAccount) => memberOf(world, account)
const ok = { status: 200, body: { success: true } }
const refused = (status: number, error: string) => ({ status, body: { status, error } })
const clusterOf = async (id: string, as?: Member) =>
  (await (as ? as.call('GET', `/v1/clusters/id/${id}`) : world.get(`/v1/clusters/id/${id}`))).body
const walletsOf = async (id: string, as?: Member): Promise<Record<string, unknown>[]> =>
  (await clusterOf(id, as)).wallets
const events = async (): Promise<
  { type: string; from: string; data: Record<string, unknown> }[]
> => {
  const { body } = await world.get('/v1/events?orderBy=newest&limit=20')
  return body.items.reverse()
}
const register = (of: Member, name: string) =>
  world.append('mainnet', [bid({ from: of.address, name, atMs: Date.now() })])

describe('changes of verified wallets, one after the other', () => {
  let alice: Member
  let bob: Member
  let id: string
  beforeAll(async () => {
    alice = await member()
    bob = await member()
    id = await alice.create()
  })

  interface Change {
    change: string
    ask(): Promise<Reply>
    event(): object
  }
  const data = (more: object = {}) => ({ address: bob.address, cluster_id: id, ...more })

  it.each<Change>([
    {
      change: 'an addition',
      ask: () => {
        const address = bob.address.toUpperCase().replace('0X', '0x')
        return alice.call('POST', '/v1/clusters/wallets', [
          { address, name: 'bob', isPrivate: false },
        ])
      },
      event: () => ({
        type: 'ADD_WALLET',
        from: alice.address,
        data: data({ name: 'bob', is_verified: false, is_backed_up: false }),
      }),
    },
    {
      change: 'a verification',
      ask: () => bob.call('POST', `/v1/clusters/verify/${id}`),
      event: () => ({ type: 'VERIFY_WALLET', from: bob.address, data: data() }),
    },
    {
      change: 'a new name',
      ask: () =>
        bob.call('PUT', '/v1/clusters/wallets/names', [{ address: bob.address, name: 'BOB-2' }]),
      event: () => ({ type: 'UPDATE_WALLET_NAME', data: data({ name: 'bob-2' }) }),
    },
    {
      change: 'a confirmed backup',
      ask: () =>
        alice.call('POST', '/v1/clusters/generate/wallet/confirm', { address: bob.address }),
      event: () => ({ type: 'BACKUP_WALLET', data: data() }),
    },
    {
      change: 'a removal',
      ask: () => alice.call('DELETE', '/v1/clusters/wallets', [bob.address]),
      event: () => ({ type: 'REMOVE_WALLET', data: data() }),
    },
  ])('$change makes one event, and none when it is repeated', async ({ ask, event }) => {
    const before = await events()
    expect(await ask()).toMatchObject(ok)
    const after = await events()
    expect(after.at(-1)).toMatchObject(event())
    expect(after.at(-2)).toEqual(before.at(-1))

    expect(await ask()).toMatchObject(ok)
    expect(await events()).toEqual(after)
  })

  it('leave no removed wallet in the cluster', async () => {
    expect((await walletsOf(id)).map(({ address }) => address)).toEqual([alice.address])
    expect(await world.get(`/v1/clusters/address/${bob.address}`)).toMatchObject({
      status: 404,
      body: { clusterId: null },
    })
    expect(await world.get(`/v1/clusters/address/${bob.address}?orNull=true`)).toMatchObject({
      status: 200,
      body: { clusterId: null },
    })
  })
})

describe('a cluster', () => {
  it('is created once by a wallet, with itself as verified entry', async () => {
    const alice = await member()
    const { status, body } = await alice.call('POST', '/v1/clusters')
    expect({ status, body }).toEqual({
      status: 200,
      body: { id: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    })
    expect((await alice.call('POST', '/v1/bundle')).body).toEqual(body)
    const cluster = await clusterOf(body.id)
    const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$/)
    const main = {
      address: alice.address,
      name: 'main',
      isVerified: true,
      isPrivate: false,
      isBackedUp: false,
      evidence: 'unsigned',
    }
    const wallets = [{ ...main, createdAt: stamp, updatedAt: stamp, updatedBy: alice.address }]
    expect(cluster).toEqual({
      id: body.id,
      createdBy: alice.address,
      createdAt: stamp,
      isTestnet: false,
      wallets,
    })
    expect((await world.get(`/v1/clusters/address/${alice.address}`)).body).toEqual({
      clusterId: body.id,
    })
    expect((await alice.call('POST', '/v1/clusters?testnet=true')).body.id).not.toBe(body.id)
  })

  it('is created when its first wallets are added', async () => {
    const alice = await member()
    const bob = await member(solanaAccount())
    const { status, body } = await alice.call('POST', '/v1/bundle/wallets', [
      { address: bob.address, name: 'Main', type: 'solana' },
      { address: randomAddress(), name: 'cold', isPrivate: true },
    ])
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, id: expect.stringMatching(/^0x/) })
    expect((await walletsOf(body.id)).map(({ name }) => name).sort()).toEqual(['main', 'main-2'])
    expect(await walletsOf(body.id, alice)).toHaveLength(3)
    expect(await bob.call('POST', `/v1/clusters/verify/${body.id}`)).toMatchObject(ok)
    expect(
      (await events()).slice(-4).map(({ type, data }) => [type, data.name, data.address]),
    ).toEqual([
      ['CREATE_CLUSTER', undefined, undefined],
      ['ADD_WALLET', 'main-2', alice.address],
      ['ADD_WALLET', 'main', bob.address],
      ['VERIFY_WALLET', undefined, bob.address],
    ])
  })

  it('gives its names to the cluster in which its last verified wallet is verified next', async () => {
    const alice = await member()
    const bob = await member()
    const names = [freshName(), freshName()]
    for (const name of names) await register(alice, name)
    const old = (await world.get(`/v1/clusters/address/${alice.address}`)).body.clusterId
    const id = await bob.create()
    await bob.call('POST', '/v1/clusters/wallets', [{ address: alice.address, name: 'alice' }])
    expect(await alice.call('DELETE', '/v1/clusters/wallets', [alice.address])).toMatchObject(
      refused(409, 'last_verified_wallet'),
    )
    expect(await alice.call('POST', `/v1/clusters/verify/${id}`)).toMatchObject(ok)
    expect((await events()).slice(-4).map(({ type, from, data }) => [type, from, data])).toEqual([
      ['REMOVE_WALLET', alice.address, { address: alice.address, cluster_id: old }],
      ...names.map((name) => [
        'TRANSFER_NAME',
        alice.address,
        { name, to: id, from_cluster_id: old },
      ]),
      ['VERIFY_WALLET', alice.address, { address: alice.address, cluster_id: id }],
    ])
    expect((await world.get(`/v1/clusters/name/${names[1]}/`)).body.id).toBe(id)
    await expectReplayOfV01(names)
    expect(await walletsOf(old)).toEqual([])
    const owned = (await world.get(`/v1/names/owner/address/${alice.address}`)).body
    expect(
      owned.map(({ name, clusterId, updatedBy }: Record<string, string>) => [
        name,
        clusterId,
        updatedBy,
      ]),
    ).toEqual(names.map((name) => [name, id, alice.address]))
    // an id depends on creator and number: alice's second cluster has the next number
    expect(await bob.call('DELETE', '/v1/clusters/wallets', [alice.address])).toMatchObject(ok)
    expect(await alice.create()).not.toBe(old)
  })
})

/** Checks that a replay of v0.1's feed gives each name the same cluster as `/v0.1`, at the price of its winning bid. */
async function expectReplayOfV01(names: readonly string[]): Promise<void> {
  const { items } = (await world.get('/v0.1/events?limit=5000')).body as {
    items: { eventType: string; clusterId: number; data: { name: string; weiAmount: number } }[]
  }
  for (const name of names) {
    const shown = items.filter((one) => one.eventType === 'register' && one.data.name === name)
    const verified = items.findLast(({ eventType }) => eventType === 'updateWallet')!
    expect(shown.map(({ data }) => data.weiAmount)).toEqual(
      shown.map(() => shown[0]!.data.weiAmount),
    )
    expect(shown.length).toBe(2)
    expect(shown[1]!.clusterId).not.toBe(shown[0]!.clusterId)
    expect(shown[1]!.clusterId).toBe(verified.clusterId)
  }
}

describe('wallets of other chains', () => {
  it('can be listed and found, and cannot sign in', async () => {
    const alice = await member()
    const id = await alice.create()
    const name = freshName()
    await register(alice, name)
    const others = [
      ['bitcoin-p2wpkh', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
      ['dogecoin', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L'],
      ['aptos', `0x${'ab'.repeat(32)}`],
    ] as const
    const wallets = others.map(([, address], i) => ({ address, name: `other-${i}` }))
    const upper = { ...wallets[0], address: others[0][1].toUpperCase() }
    expect(
      await alice.call('POST', '/v1/clusters/wallets', [upper, ...wallets.slice(1)]),
    ).toMatchObject(ok)
    for (const [i, [type, address]] of others.entries()) {
      const { body } = await world.get(`/v1/names/address/${address}`)
      expect(body).toEqual({
        address,
        type,
        clusterName: name,
        walletName: `other-${i}`,
        isVerified: false,
      })
      expect((await world.post('/v1/names', [{ name: `${name}/other-${i}` }])).body).toMatchObject([
        { address, type },
      ])
      expect((await world.get(`/v1/clusters/address/${address}`)).status).toBe(404)
    }
    expect((await walletsOf(id)).map(({ address }) => address)).toEqual(
      expect.arrayContaining(others.map(([, a]) => a)),
    )
    expect((await events()).slice(-3).map(({ data }) => data.address)).toEqual(
      others.map(([, address]) => address),
    )
    const { body } = await world.get('/v0.1/events?sortBy=newest&limit=1')
    expect(body.items[0]).toMatchObject({
      addressType: 'aptos',
      bytes32Address: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    const paired = [{ address: others[0][1], name: 'x', type: 'evm' }]
    expect(await alice.call('POST', '/v1/bundle/wallets', paired)).toMatchObject(
      refused(400, 'unsupported_address'),
    )
  })
})

describe('an impossible change', () => {
  it('has its own code, and changes nothing', async () => {
    const alice = await member()
    const bob = await member()
    const other = await member()
    expect(await alice.call('PUT', '/v1/clusters/wallets/names', [])).toMatchObject(
      refused(404, 'not_in_cluster'),
    )
    const id = await alice.create()
    await alice.call('POST', '/v1/clusters/wallets', [{ address: bob.address, name: 'bob' }])
    await alice.call('POST', '/v1/clusters/wallets', [
      { address: other.address, name: 'other', isPrivate: true },
    ])
    const before = [await clusterOf(id, alice), await events()]
    const many = Array.from({ length: 101 }, (_, i) => ({
      address: randomAddress(),
      name: `w${i}`,
    }))
    const twice = ['a', 'b'].map((name) => ({ address: bob.address, name }))
    const solana = [{ address: randomAddress(), name: 'x', type: 'solana' }]
    const additions: [unknown, number, string][] = [
      [[{ address: bob.address, name: 'robert' }], 409, 'wallet_exists'],
      [[{ address: randomAddress(), name: 'bob' }], 409, 'wallet_name_taken'],
      [[{ address: randomAddress(), name: 'other', isPrivate: true }], 409, 'wallet_name_taken'],
      [[{ address: bob.address, name: 'bob', isPrivate: true }], 409, 'already_public'],
      [[{ address: 'nonsense', name: 'x' }], 400, 'unsupported_address'],
      [[{ address: randomAddress(), name: 'x y' }], 400, 'invalid_name'],
      [twice, 400, 'invalid_request'],
      [many, 400, 'too_many'],
      [{ address: bob.address }, 400, 'invalid_request'],
      [[{ address: 'x'.repeat(60_000), name: 'y'.repeat(60_000) }], 400, 'unsupported_address'],
    ]
    for (const [wallets, status, error] of additions) {
      const reply = await alice.call('POST', '/v1/clusters/wallets', wallets)
      expect(reply).toMatchObject(refused(status, error))
    }
    const toMain = [{ address: bob.address, name: 'main' }]
    const toNew = [{ address: randomAddress(), name: 'new' }]
    const unknown = { address: randomAddress() }
    const cases: [Promise<Reply>, number, string][] = [
      [(await member()).call('POST', `/v1/clusters/verify/${id}`), 403, 'not_invited'],
      [bob.call('POST', `/v1/clusters/verify/0x${'ab'.repeat(32)}`), 404, 'not_found'],
      [bob.call('POST', '/v1/clusters/verify/0x12'), 400, 'invalid_request'],
      [alice.call('PUT', '/v1/clusters/wallets/names', toMain), 409, 'wallet_name_taken'],
      [alice.call('PUT', '/v1/clusters/wallets/names', toNew), 404, 'not_in_cluster'],
      [alice.call('POST', '/v1/clusters/generate/wallet/confirm', unknown), 404, 'not_in_cluster'],
      [bob.call('DELETE', '/v1/clusters/wallets', [alice.address]), 404, 'not_in_cluster'],
      [alice.call('POST', '/v1/bundle/wallets', solana), 400, 'unsupported_address'],
      [world.post('/v1/clusters/wallets', []), 401, 'unauthorized'],
    ]
    for (const [reply, status, error] of cases)
      expect(await reply).toMatchObject(refused(status, error))
    // one invalid element refuses the whole batch
    const half = [
      { address: randomAddress(), name: 'fine' },
      { address: randomAddress(), name: 'bob' },
    ]
    expect(await alice.call('POST', '/v1/clusters/wallets', half)).toMatchObject(
      refused(409, 'wallet_name_taken'),
    )
    expect([await clusterOf(id, alice), await events()]).toEqual(before)
  })

  it('is to list more than 1,000 wallets in a cluster', async () => {
    const alice = await member()
    const batch = () =>
      Array.from({ length: 100 }, () => ({ address: randomAddress(), name: freshName() }))
    for (let i = 0; i < 9; i++)
      expect(await alice.call('POST', '/v1/clusters/wallets', batch())).toMatchObject(ok)
    expect(await alice.call('POST', '/v1/clusters/wallets', batch())).toMatchObject(
      refused(409, 'wallet_limit'),
    )
    expect(await alice.call('POST', '/v1/clusters/wallets', batch().slice(1))).toMatchObject(ok)
    expect(await alice.call('POST', '/v1/clusters/wallets', batch().slice(99))).toMatchObject(
      refused(409, 'wallet_limit'),
    )
  })

  it('is any change before the first catch-up of the network', async () => {
    const alice = await member()
    await world.pool.query('UPDATE journal_heads SET caught_up = false WHERE network = 0')
    const indexer = await world.pool.connect()
    try {
      // the refusal does not wait for an indexer that holds the head's lock for long
      await indexer.query('BEGIN')
      await indexer.query('SELECT 1 FROM journal_heads WHERE network = 0 FOR UPDATE')
      const reply = await alice.call('POST', '/v1/clusters')
      expect(reply).toMatchObject(refused(503, 'catching_up'))
      expect(reply.headers.get('retry-after')).toBe('2')
      expect((await alice.call('POST', '/v1/clusters?testnet=true')).status).toBe(200)
      expect((await world.get('/v1/events')).status).toBe(200)
    } finally {
      await indexer.query('ROLLBACK')
      indexer.release()
      await world.pool.query('UPDATE journal_heads SET caught_up = true')
    }
  })
})

describe('at the same moment', () => {
  it('two creates of one wallet give one cluster', async () => {
    const alice = await member()
    const ids = await Promise.all(Array.from({ length: 6 }, () => alice.create()))
    expect(new Set(ids).size).toBe(1)
    const made = (await events()).filter(
      ({ from, type }) => from === alice.address && type === 'CREATE_CLUSTER',
    )
    expect(made).toHaveLength(1)
  })

  it('two clusters that verify one wallet: it ends in one of them', async () => {
    const alice = await member()
    const bob = await member()
    const walker = await member()
    const ids = [await alice.create(), await bob.create()]
    for (const of of [alice, bob])
      await of.call('POST', '/v1/clusters/wallets', [{ address: walker.address, name: 'walker' }])
    const replies = await Promise.all(
      [...ids, ...ids].map((id) => walker.call('POST', `/v1/clusters/verify/${id}`)),
    )
    // the second verification moves the wallet, and the first cluster no longer lists it
    for (const reply of replies)
      if (reply.status !== 200) expect(reply).toMatchObject(refused(403, 'not_invited'))
    expect(replies.some(({ status }) => status === 200)).toBe(true)
    const { rows } = await world.pool.query(
      `SELECT cluster FROM wallets WHERE verified AND address = $1`,
      [Buffer.from(`01${walker.address.slice(2)}`, 'hex')],
    )
    expect(rows).toHaveLength(1)
  })

  it('two members who take one name: one has it, the other gets 409', async () => {
    const alice = await member()
    const bob = await member()
    const id = await alice.create()
    await alice.call('POST', '/v1/clusters/wallets', [{ address: bob.address, name: 'bob' }])
    await bob.call('POST', `/v1/clusters/verify/${id}`)
    for (let round = 0; round < 5; round++) {
      const name = `round-${round}`
      const replies = await Promise.all(
        [alice, bob].map((of) =>
          of.call('PUT', '/v1/clusters/wallets/names', [{ address: of.address, name }]),
        ),
      )
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
      expect(replies.find(({ status }) => status === 409)!.body.error).toBe('wallet_name_taken')
      expect((await walletsOf(id)).filter((wallet) => wallet.name === name)).toHaveLength(1)
    }
  })

  it('members who add and remove the same wallets leave consistent rows', async () => {
    const alice = await member()
    const id = await alice.create()
    const wallets = Array.from({ length: 4 }, (_, i) => ({
      address: randomAddress(),
      name: `w${i}`,
    }))
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        i % 3 === 2
          ? alice.call('DELETE', '/v1/clusters/wallets', [wallets[i % 4]!.address])
          : alice.call('POST', '/v1/clusters/wallets', [wallets[i % 4]!]),
      ),
    )
    for (const reply of replies) expect(reply).toMatchObject(ok)
    expect((await walletsOf(id)).length).toBeLessThanOrEqual(5)
  })
})
