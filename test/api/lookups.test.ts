import bs58 from 'bs58'
import { getAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { breakChecksum } from '../support/checksum.js'
import { listWallet, plantPrivate } from './plant.js'
import { bid, freshName, MINIMUM_WEI, randomAddress, START_MS, useApi } from './support.js'

const alice = randomAddress()
const solana = bs58.encode(Buffer.alloc(32, 7))
const first = freshName()
const second = freshName()
const solName = freshName()
const testName = freshName()

const world = useApi()
beforeAll(async () => {
  await world.append('mainnet', [
    bid({ from: alice, name: first, amountWei: MINIMUM_WEI * 3n }),
    bid({ from: solana, name: solName, atMs: START_MS + 1_000 }),
    bid({ from: alice, name: second, atMs: START_MS + 2_000 }),
    bid({ from: randomAddress(), name: first }),
    bid({ from: alice, name: 'x', word: Buffer.alloc(32, 0xff) }),
  ])
  await world.append('testnet', [bid({ from: alice, name: testName })])
})

const clusterIdOf = async (address: string): Promise<string> =>
  (await world.get(`/v1/clusters/address/${address}`)).body.clusterId

describe('GET /v1/names/address/:address', () => {
  it.each([
    ['in lower case', alice],
    ['with a checksum', getAddress(alice)],
    ['with a slash', `${alice}/`],
  ])('returns the cluster’s oldest name for an address %s', async (_, form) => {
    expect(await world.get(`/v1/names/address/${form}`)).toMatchObject({
      status: 200,
      body: {
        address: alice,
        type: 'evm',
        clusterName: first,
        walletName: 'main',
        isVerified: true,
      },
    })
  })

  it('returns the name of a Solana wallet', async () => {
    expect((await world.get(`/v1/names/address/${solana}`)).body).toEqual({
      address: solana,
      type: 'solana',
      clusterName: solName,
      walletName: 'main',
      isVerified: true,
    })
  })

  it.each([
    ['unknown', randomAddress()],
    ['of a wrong checksum', breakChecksum(getAddress(alice))],
  ])('answers 404 with the record of an address that is %s', async (_, address) => {
    const { status, body } = await world.get(`/v1/names/address/${address}`)
    const record = { address, type: 'evm', clusterName: null, walletName: null }
    expect([status, body]).toEqual([404, record])
  })

  it.each(['junk', '0x12', '%00', '..%2f', 'ü'])('answers 404 for %s', async (junk) => {
    expect(await world.get(`/v1/names/address/${junk}`)).toMatchObject({
      status: 404,
      body: { type: null, clusterName: null, walletName: null },
    })
  })

  it.each([
    ['?testnet=true', testName],
    ['?testnet=1', first],
    ['?testnet=TRUE', first],
    ['?testnet=', first],
    ['?testnet=undefined', first],
    ['?other=1&other=2', first],
    ['?', first],
  ])('selects the testnet only by exactly testnet=true: %s', async (query, name) => {
    const { body } = await world.get(`/v1/names/address/${alice}${query}`)
    expect(body.clusterName).toBe(name)
  })

  it('refuses testnet=true twice', async () => {
    const { body } = await world.get(`/v1/names/address/${alice}?testnet=true&testnet=true`)
    expect(body.error).toBe('invalid_request')
  })
})

describe('POST /v1/names/address', () => {
  it('returns one record per input, in order', async () => {
    const unknown = randomAddress()
    const { status, body } = await world.post('/v1/names/address', [
      'junk',
      solana,
      unknown,
      getAddress(alice),
      alice,
    ])
    expect(status).toBe(200)
    const names = [null, solName, null, first, first]
    expect(body.map((record: { clusterName: string | null }) => record.clusterName)).toEqual(names)
    expect(body[0]).toEqual({ address: 'junk', type: null, clusterName: null, walletName: null })
    expect(body[3].address).toBe(alice)
  })

  it('takes 0 to 1,000 addresses', async () => {
    expect((await world.post('/v1/names/address', [])).body).toEqual([])
    const many = Array.from({ length: 1_000 }, randomAddress)
    expect((await world.post('/v1/names/address', many)).body).toHaveLength(1_000)
    expect(await world.post('/v1/names/address', [...many, alice])).toMatchObject({
      status: 400,
      body: { status: 400, error: 'too_many' },
    })
  })

  it.each([
    { body: undefined },
    { body: null },
    { body: {} },
    { body: 'x' },
    { body: [1] },
    { body: [null] },
    { body: [[alice]] },
  ])('refuses the body $body', async ({ body }) => {
    expect((await world.post('/v1/names/address', body)).body.error).toBe('invalid_request')
  })
})

describe('POST /v1/names', () => {
  it('resolves names, repeats them as they were sent, and leaves out unknown names', async () => {
    const asked = [
      first,
      `${first}/`,
      `${first.toUpperCase()}/MAIN`,
      `${first}/other`,
      freshName(),
      solName,
    ]
    const { body } = await world.post(
      '/v1/names',
      asked.map((name) => ({ name })),
    )
    expect(body.map((record: { name: string }) => record.name)).toEqual([
      asked[0],
      asked[1],
      asked[2],
      solName,
    ])
    const record = {
      address: alice,
      type: 'evm',
      clusterName: first,
      walletName: 'main',
      isVerified: true,
    }
    expect(body[0]).toEqual({ name: first, ...record })
  })

  it('leaves out malformed names', async () => {
    const junk = ['', 'a b', 'a/b/c', 'é', 'x'.repeat(33), '/', 'a//']
    const { status, body } = await world.post(
      '/v1/names',
      [...junk, first, ...junk].map((name) => ({ name })),
    )
    expect(status).toBe(200)
    expect(body).toMatchObject([{ name: first, address: alice }])
    expect((await world.post('/v1/names', [first])).body.error).toBe('invalid_request')
  })
})

describe('private wallets and unverified wallets', () => {
  it('are absent from every public answer', async () => {
    const mentioned = randomAddress()
    const { name, hidden, other } = await plantPrivate(world)
    await listWallet(world, { name, address: mentioned, wallet: 'side', isPrivate: false })
    expect(await world.get(`/v1/names/address/${hidden}`)).toMatchObject({
      status: 404,
      body: { clusterName: null },
    })
    expect((await world.get(`/v1/names/owner/address/${hidden}`)).body).toEqual([])
    expect(await world.get(`/v1/clusters/address/${hidden}`)).toMatchObject({
      status: 404,
      body: { clusterId: null },
    })
    expect(
      (await world.post('/v1/names', [{ name: other }, { name: `${name}/secret` }])).body,
    ).toEqual([])
    expect((await world.get(`/v1/clusters/name/${other}`)).body.wallets).toEqual([])
    const { body } = await world.get(`/v1/clusters/name/${name}`)
    expect(body.wallets.map((wallet: { name: string }) => wallet.name).sort()).toEqual([
      'main',
      'side',
    ])
    const listed = { clusterName: name, walletName: 'side', isVerified: false }
    expect((await world.get(`/v1/names/address/${mentioned}`)).body).toMatchObject(listed)
    // an unverified entry proves nothing: the address is verified in no cluster
    expect((await world.get(`/v1/clusters/address/${mentioned}`)).status).toBe(404)
  })
})

describe('GET /v1/names/owner/address/:address', () => {
  it('returns every name of the cluster, oldest first', async () => {
    const { status, body } = await world.get(`/v1/names/owner/address/${getAddress(alice)}`)
    expect(status).toBe(200)
    expect(body).toEqual([
      {
        name: first,
        owner: alice,
        totalWeiAmount: (MINIMUM_WEI * 3n).toString(),
        createdAt: '2026-11-20 08:00:00.123+00',
        updatedAt: '2026-11-20 08:00:00.123+00',
        updatedBy: alice,
        isTestnet: false,
        clusterId: await clusterIdOf(alice),
        walletName: 'main',
        expiresAt: null,
        tx: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      },
      expect.objectContaining({ name: second, createdAt: '2026-11-20 08:00:02.123+00' }),
    ])
  })

  it.each([randomAddress(), 'junk'])('returns no name for %s', async (address) => {
    expect(await world.get(`/v1/names/owner/address/${address}`)).toMatchObject({
      status: 200,
      body: [],
    })
  })
})

describe('GET /v1/clusters', () => {
  it('returns a cluster by id, name and address', async () => {
    const id = await clusterIdOf(alice)
    expect(id).toMatch(/^0x[0-9a-f]{64}$/)
    const createdAt = '2026-11-20 08:00:00+00'
    const main = {
      address: alice,
      name: 'main',
      isVerified: true,
      isPrivate: false,
      isBackedUp: false,
      evidence: 'registered',
    }
    const wallets = [{ ...main, createdAt, updatedAt: createdAt, updatedBy: alice }]
    const cluster = { id, createdBy: alice, createdAt, wallets, isTestnet: false }
    const paths = [
      `id/${id}`,
      `id/${id.toUpperCase().replace('0X', '0x')}`,
      `name/${first}`,
      `name/${second}/`,
    ]
    paths.push(`name/${first}%2F`, `name/${first.toUpperCase()}`)
    for (const path of paths)
      expect((await world.get(`/v1/clusters/${path}`)).body, path).toEqual(cluster)
  })

  it.each([
    ['an unknown id', `id/0x${'ab'.repeat(32)}`, 404, 'not_found'],
    ['an unknown name', `name/${freshName()}`, 404, 'not_found'],
    ['an id too short', 'id/0x12', 400, 'invalid_request'],
    ['a name with a space', 'name/a%20b', 400, 'invalid_name'],
    ['a name too long', `name/${'x'.repeat(33)}`, 400, 'invalid_name'],
  ])('answers %s', async (_, path, status, error) => {
    expect(await world.get(`/v1/clusters/${path}`)).toMatchObject({
      status,
      body: { status, error },
    })
  })

  it.each([
    ['unknown', randomAddress()],
    ['junk', 'junk'],
    ['of a wrong checksum', breakChecksum(getAddress(alice))],
  ])('answers 404 for an address that is %s', async (_, address) => {
    const reply = await world.get(`/v1/clusters/address/${address}`)
    expect(reply).toMatchObject({ status: 404, body: { clusterId: null } })
  })
})
