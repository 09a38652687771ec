import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { PAYMENTS, RECIPIENT, TOKEN, useCommunities } from './communityApi.js'
import { memberOf } from './members.js'
import { freshName, randomAddress } from './support.js'
import { solanaAccount } from './wallets.js'

const { world, ownerOf, community } = useCommunities()
const FREE = { prices: [], ownersOnly: false, startsAt: null, requirements: [] }

describe('the rules of a community', () => {
  it('are set by a wallet of the cluster that holds the name, and read by anybody', async () => {
    const name = freshName()
    const owner = await ownerOf(name)
    expect(await world.get(`/v1/communities/${name}`)).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
    expect(await (await memberOf(world)).call('PUT', `/v1/communities/${name}`, {})).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    })
    expect(await owner.call('PUT', `/v1/communities/${freshName()}`, {})).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
    expect((await owner.call('PUT', `/v1/communities/${name}`, {})).body).toEqual({ name, ...FREE })
    const rules = {
      ...FREE,
      prices: [
        { network: '1', token: 'native', amount: '5', recipient: RECIPIENT },
        { network: '1', token: TOKEN, amount: '7', recipient: RECIPIENT },
      ],
      startsAt: '2026-12-01T08:00:00.000Z',
      requirements: [{ kind: 'allowlist', addresses: [owner.address] }],
    }
    expect((await owner.call('PUT', `/v1/communities/${name.toUpperCase()}`, rules)).body).toEqual({
      name,
      ...rules,
    })
    expect((await world.get(`/v1/communities/${name}/`)).body).toEqual({ name, ...rules })
    // no event publishes it
    const { items } = (await world.get(`/v1/events?orderBy=newest&limit=1`)).body
    expect(items[0].type).toBe('REGISTER_NAME')
  })

  it.each([
    ['an unknown field', { priecs: [] }],
    [
      'a price on an unknown network',
      { prices: [{ network: '10', token: 'native', amount: '100', recipient: RECIPIENT }] },
    ],
    [
      'a price on the other network',
      { prices: [{ network: '11155111', token: 'native', amount: '100', recipient: RECIPIENT }] },
    ],
    [
      'an amount that is a number',
      {
        prices: [{ network: '1', token: 'native', amount: 5, recipient: RECIPIENT }],
      },
    ],
    [
      'prices together with ownersOnly',
      {
        prices: [{ network: '1', token: 'native', amount: '100', recipient: RECIPIENT }],
        ownersOnly: true,
      },
    ],
    ['a day that does not exist', { startsAt: '2026-02-30T00:00:00Z' }],
    ['an unknown requirement', { requirements: [{ kind: 'karma' }] }],
  ])('can not have %s', async (_what, rules) => {
    const name = freshName()
    const reply = await (await ownerOf(name)).call('PUT', `/v1/communities/${name}`, rules)
    expect(reply).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(reply.body.details.length).toBeGreaterThan(0)
    expect((await world.get(`/v1/communities/${name}`)).status).toBe(404)
  })

  it('may list a thousand addresses, and larger requests are not read', async () => {
    const name = freshName()
    const owner = await ownerOf(name)
    const addresses = Array.from({ length: 1_000 }, () => solanaAccount().address)
    const rules = { ...FREE, requirements: [{ kind: 'allowlist', addresses }] }
    expect((await owner.call('PUT', `/v1/communities/${name}`, rules)).body).toEqual({
      name,
      ...rules,
    })
    const twice = { ...rules, requirements: [...rules.requirements, ...rules.requirements] }
    expect(await owner.call('PUT', `/v1/communities/${name}`, twice)).toMatchObject({
      status: 413,
      body: { error: 'invalid_request' },
    })
  })
})

describe('a free community', () => {
  it('gives a name to anybody once, and it resolves both ways', async () => {
    const { name } = await community()
    const alice = await memberOf(world)
    const check = `/v1/names/community/${name}/check/alice`
    expect((await world.get(check)).body).toEqual({ name: `${name}/alice`, isAvailable: true })
    const made = await alice.call('POST', `/v1/names/community/${name}/register`, { name: 'Alice' })
    expect(made.body).toEqual({ clusterName: `${name}/alice`, owner: alice.address })
    expect((await world.get(check)).body.isAvailable).toBe(false)
    const taken = { status: 409, body: { error: 'not_available' } }
    expect(
      await (await memberOf(world)).call('POST', `/v1/names/community/${name}/register`, {
        name: 'alice',
      }),
    ).toMatchObject(taken)
    const record = { clusterName: name, walletName: 'alice', isVerified: true }
    expect((await world.get(`/v1/names/address/${alice.address}`)).body).toMatchObject(record)
    const [resolved] = (await world.post('/v1/names', [{ name: `${name}/alice` }])).body
    expect(resolved).toMatchObject({ address: alice.address, ...record })
    expect((await world.get(`/v0.1/name/${alice.address}`)).body).toBe(`${name}/alice`)
    expect((await world.get(`/v0.1/address/${name}/alice`)).body).toMatchObject({
      address: alice.address,
    })
    const owned = (await world.get(`/v1/names/owner/address/${alice.address}`)).body
    expect(owned).toMatchObject([{ name: `${name}/alice`, totalWeiAmount: '0', clusterId: null }])
    const { items } = (await world.get('/v1/events?orderBy=newest&limit=1')).body
    expect(items[0]).toMatchObject({
      type: 'REGISTER_COMMUNITY_NAME',
      from: alice.address,
      data: { community: name, name: 'alice', address: alice.address, cluster_id: null },
    })
  })

  it('does not change the name of an address that has a cluster with a name', async () => {
    const { name } = await community()
    const own = freshName()
    const alice = await ownerOf(own)
    await alice.call('POST', `/v1/names/community/${name}/register`, { name: 'alice' })
    const record = { clusterName: own, walletName: 'main' }
    expect((await world.get(`/v1/names/address/${alice.address}`)).body).toMatchObject(record)
    const owned = (await world.get(`/v1/names/owner/address/${alice.address}`)).body
    expect(owned.map((one: { name: string }) => one.name)).toEqual([own, `${name}/alice`])
    expect(owned[1].clusterId).toBe(owned[0].clusterId)
  })

  it('shares its names with the public wallets of its cluster', async () => {
    const { name, owner } = await community()
    const taken = { status: 409, body: { error: 'not_available' } }
    expect(
      await (await memberOf(world)).call('POST', `/v1/names/community/${name}/register`, {
        name: 'main',
      }),
    ).toMatchObject(taken)
    await owner.call('POST', '/v1/clusters/wallets', [
      { address: randomAddress(), name: 'vault', isPrivate: true },
    ])
    const alice = await memberOf(world)
    expect(
      (await alice.call('POST', `/v1/names/community/${name}/register`, { name: 'vault' })).status,
    ).toBe(200)
    await alice.call('POST', `/v1/names/community/${name}/register`, { name: 'cold' })
    const added = await owner.call('POST', '/v1/clusters/wallets', [
      { address: randomAddress(), name: 'cold' },
    ])
    expect(added).toMatchObject({ status: 409, body: { error: 'wallet_name_taken' } })
    expect(
      (
        await owner.call('POST', '/v1/clusters/wallets', [
          { address: randomAddress(), name: 'cold', isPrivate: true },
        ])
      ).status,
    ).toBe(200)
  })

  it('lets only its owners register names for others', async () => {
    const { name, owner } = await community()
    const stranger = randomAddress()
    const alice = await memberOf(world)
    const body = { name: 'guest', walletAddress: stranger }
    expect(await alice.call('POST', `/v1/names/community/${name}/register`, body)).toMatchObject({
      status: 403,
      body: { error: 'not_verified' },
    })
    expect((await owner.call('POST', `/v1/names/community/${name}/register`, body)).body).toEqual({
      clusterName: `${name}/guest`,
      owner: stranger,
    })
    // the guest is not verified, because it signed nothing
    const record = { clusterName: name, isVerified: false }
    expect((await world.get(`/v1/names/address/${stranger}`)).body).toMatchObject(record)
  })

  it('requires a key and well-formed names', async () => {
    const { name, owner } = await community()
    expect((await world.post(`/v1/names/community/${name}/register`, { name: 'a' })).status).toBe(
      401,
    )
    expect(
      await owner.call('POST', `/v1/names/community/${name}/register`, { name: 'a b' }),
    ).toMatchObject({ status: 400, body: { error: 'invalid_name' } })
    const junk = { name: 'a', walletAddress: '0x12' }
    expect(await owner.call('POST', `/v1/names/community/${name}/register`, junk)).toMatchObject({
      status: 400,
      body: { error: 'unsupported_address' },
    })
    const nowhere = await world.get('/v1/names/community/nothing-here/check/a')
    expect(nowhere).toMatchObject({ status: 404, body: { error: 'not_found' } })
  })
})

describe('requirements', () => {
  it('have to be met by the wallet that gets the name: an allowlist, a cluster', async () => {
    const alice = await memberOf(world)
    const holder = freshName()
    const bob = await ownerOf(holder)
    const rules = { requirements: [{ kind: 'allowlist', addresses: [alice.address, bob.address] }] }
    const { name, owner } = await community(rules)
    const eve = await (await memberOf(world)).call('POST', `/v1/names/community/${name}/register`, {
      name: 'eve',
    })
    expect(eve).toMatchObject({ status: 403, body: { error: 'requirements_not_met' } })
    expect(
      (await alice.call('POST', `/v1/names/community/${name}/register`, { name: 'alice' })).status,
    ).toBe(200)
    const both = { requirements: [...rules.requirements, { kind: 'cluster', name: holder }] }
    expect((await owner.call('PUT', `/v1/communities/${name}`, both)).status).toBe(200)
    expect(
      (await alice.call('POST', `/v1/names/community/${name}/register`, { name: 'alice-2' }))
        .status,
    ).toBe(403)
    expect(
      (await bob.call('POST', `/v1/names/community/${name}/register`, { name: 'bob' })).status,
    ).toBe(200)
  })

  it('give 503 while their chain does not answer, and nothing is registered', async () => {
    const requirements = [{ kind: 'token', network: '1', token: TOKEN, minimum: '1' }]
    const { name } = await community({ requirements })
    const reply = await (await memberOf(world)).call(
      'POST',
      `/v1/names/community/${name}/register`,
      { name: 'alice' },
    )
    expect(reply).toMatchObject({ status: 503, body: { error: 'unavailable' } })
    expect((await world.get(`/v1/names/community/${name}/check/alice`)).body.isAvailable).toBe(true)
  })
})

describe('a paid community', () => {
  it('returns the payment, and registers nothing', async () => {
    const { name, owner } = await community({
      prices: [{ network: '1', token: 'native', amount: '12345', recipient: RECIPIENT }],
    })
    const alice = await memberOf(world)
    const { body } = await alice.call('POST', `/v1/names/community/${name}/register`, {
      name: 'alice',
    })
    expect(body).toMatchObject({
      clusterName: `${name}/alice`,
      owner: alice.address,
      price: { network: '1', token: 'native', amount: '12345', recipient: RECIPIENT },
      transactionInfo: { type: 'evm', transaction: { to: PAYMENTS, value: '12345' } },
    })
    expect((await world.get(`/v1/names/community/${name}/check/alice`)).body.isAvailable).toBe(true)
    const wrong = { status: 400, body: { error: 'invalid_chain_id' } }
    expect(
      await alice.call('POST', `/v1/names/community/${name}/register`, {
        name: 'alice',
        network: '10',
      }),
    ).toMatchObject(wrong)
    const solana = await (await memberOf(world, solanaAccount())).call(
      'POST',
      `/v1/names/community/${name}/register`,
      { name: 'sol' },
    )
    expect(solana).toMatchObject(wrong)
    expect(solana.body.message).toBe(
      'The community has a price there, and a wallet of this type can not pay it.',
    )
    // an owner may register names for others
    const guest = { name: 'guest', walletAddress: randomAddress() }
    expect(
      (await owner.call('POST', `/v1/names/community/${name}/register`, guest)).body,
    ).not.toHaveProperty('transactionInfo')
  })
})

describe('communities of v0.1', () => {
  it('answer that they are only on the testnet before they require a key', async () => {
    const reply = await world.post('/v0.1/community/register', {
      clusterName: 'club',
      walletName: 'alice',
    })
    expect(reply).toMatchObject({ status: 400, body: { error: 'testnet_only' } })
    expect(Object.keys(reply.body)).toEqual(['error', 'status', 'message'])
  })

  it('answer not_found for a malformed transaction id, and 503 for one that needs the chains', async () => {
    const tx = (hash: string) => world.get(`/v0.1/community/tx/${hash}?testnet=true`)
    expect((await tx('junk')).body).toEqual({ tx: 'junk', status: 'not_found' })
    expect((await tx(`0x${'cd'.repeat(32)}`)).status).toBe(503)
  })

  it.each([
    ['of the chain that is named', '11155111'],
    ['of the first price, for the documented default', '1'],
    ['of the first price, for the default as a number', 1],
    ['of the first price, where none is named', undefined],
  ])('answer a payment as transaction data: %s', async (_, chainId) => {
    const { name } = await community(
      { prices: [{ network: '11155111', token: 'native', amount: '9', recipient: RECIPIENT }] },
      'testnet',
    )
    const alice = await memberOf(world)
    const body = { clusterName: name, walletName: 'alice', chainId }
    expect((await alice.call('POST', '/v0.1/community/register?testnet=true', body)).body).toEqual({
      clusterName: name,
      walletName: 'alice',
      transactionInfo: {
        type: 'evm',
        transaction: { to: PAYMENTS, data: expect.stringMatching(/^0x/), value: '9' },
      },
    })
  })
})

it('a chain id of the testnet does not select the testnet in v0.1', async () => {
  const { name } = await community(
    { prices: [{ network: '11155111', token: 'native', amount: '9', recipient: RECIPIENT }] },
    'testnet',
  )
  const body = { clusterName: name, walletName: 'alice', chainId: '11155111' }
  const reply = await (await memberOf(world)).call('POST', '/v0.1/community/register', body)
  expect(reply).toMatchObject({ status: 400, body: { error: 'testnet_only' } })
})

describe('a bundle', () => {
  it('cannot get an assigned name before a claim', async () => {
    const { name } = await community()
    const alice = await memberOf(world)
    const assign = (body: object) =>
      alice.call('POST', '/bundles/assign', { community: name, name: 'alice', ...body })
    expect(await assign({})).toMatchObject({ status: 404, body: { error: 'not_in_cluster' } })
    const id = await alice.create()
    expect(await assign({ bundleId: id })).toMatchObject({
      status: 403,
      body: { error: 'requirements_not_met' },
    })
    expect(await assign({ bundleId: `0x${'12'.repeat(32)}` })).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    })
    expect(await assign({ bundleId: '0x12' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
    expect(await assign({ community: freshName() })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
    expect(
      (await alice.call('POST', '/v1/bundles/assign', { community: name, name: 'alice' })).status,
    ).toBe(403)
  })
})

it('a change of its cluster reads names below a community once, however many private wallets have such names', async () => {
  const { name, owner } = await community()
  const stem = 'x'.repeat(27)
  const below = Array.from({ length: 40 }, (_, i) => `${stem}${1_000 + i}`)
  for (const one of below) {
    const body = { name: one, walletAddress: randomAddress() }
    expect(
      (await owner.call('POST', `/v1/names/community/${name}/register`, body)).status,
      one,
    ).toBe(200)
  }
  const one = (i: number) => ({ address: randomAddress(), isPrivate: true, name: `${stem}${i}` })
  const hidden = Array.from({ length: 100 }, (_, i) => one(i))
  expect((await owner.call('POST', '/v1/clusters/wallets', hidden)).status).toBe(200)
  let rows = 0
  const { query } = pg.Client.prototype
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...asked: unknown[]
  ) {
    const answer = Reflect.apply(query, this, asked)
    answer?.then?.(
      (read: pg.QueryResult) => (rows += read?.rows?.length ?? 0),
      () => {},
    )
    return answer
  } as typeof query)
  expect(
    (
      await owner.call('PUT', '/v1/clusters/wallets/names', [
        { address: owner.address, name: 'renamed' },
      ])
    ).status,
  ).toBe(200)
  spy.mockRestore()
  expect(rows).toBeLessThan(1_000)
})

describe('GET /v1/communities', () => {
  it('lists the names that are communities once each, page by page', async () => {
    const { name, owner } = await community()
    const other = await community()
    expect((await owner.call('PUT', `/v1/communities/${name}`, { ownersOnly: true })).status).toBe(
      200,
    )
    const all = (await world.get('/v1/communities')).body as { name: string }[]
    const names = all.map((one) => one.name)
    expect(names).toEqual([...new Set(names)].sort())
    expect(names).toEqual(expect.arrayContaining([name, other.name]))
    const [first, second] = names
    expect((await world.get('/v1/communities?limit=1')).body).toEqual([{ name: first }])
    expect((await world.get(`/v1/communities?limit=1&after=${first!.toUpperCase()}`)).body).toEqual(
      [{ name: second }],
    )
    expect((await world.get(`/v1/communities?after=${names.at(-1)}`)).body).toEqual([])
    expect((await world.get('/v1/communities?after=a%20b')).body.error).toBe('invalid_request')
    expect((await world.get(`/v1/communities?name=${first}/`)).body).toEqual([{ name: first }])
    const none = await world.get(`/v1/communities?name=${freshName()}`)
    expect([none.status, none.body]).toEqual([200, []])
    expect((await world.get('/v1/communities?name=a%20b')).body.error).toBe('invalid_name')
  })
})

describe('GET /v1/communities/:name/members', () => {
  it('lists the names below a community with their owners, page by page', async () => {
    const { name, owner } = await community()
    const members = await Promise.all([memberOf(world), memberOf(world), memberOf(world)])
    const names = ['cat', 'ant', 'bee']
    for (const [i, member] of members.entries())
      await member.call('POST', `/v1/names/community/${name}/register`, { name: names[i]! })
    const path = `/v1/communities/${name.toUpperCase()}/members`
    const ant = { name: 'ant', owner: members[1]!.address }
    const bee = { name: 'bee', owner: members[2]!.address }
    const cat = { name: 'cat', owner: members[0]!.address }
    expect((await world.get(path)).body).toEqual([ant, bee, cat])
    expect((await world.get(`${path}?limit=2`)).body).toEqual([ant, bee])
    expect((await world.get(`${path}?limit=2&after=BEE`)).body).toEqual([cat])
    // wallets of the community's cluster are not members
    await owner.call('POST', '/v1/clusters/wallets', [{ address: randomAddress(), name: 'aaa' }])
    expect((await world.get(path)).body).toEqual([ant, bee, cat])
  })

  it('is empty for a name without a community, and refuses a malformed name', async () => {
    expect((await world.get(`/v1/communities/${freshName()}/members`)).body).toEqual([])
    expect((await world.get('/v1/communities/a%20b/members')).body.error).toBe('invalid_name')
  })
})
