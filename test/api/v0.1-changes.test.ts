import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Member, memberOf } from './members.js'
import { bid, freshName, randomAddress, useApi } from './support.js'

const world = useApi()

const member = () => memberOf(world)
const newAccount = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())
const register = (of: Member, name: string) =>
  world.append('mainnet', [bid({ from: of.address, name, atMs: Date.now() })])

describe('/v0.1/auth', () => {
  it('returns the same key as v1, in three fields', async () => {
    const account = newAccount()
    const { status, body } = await world.get('/v0.1/auth/message')
    expect(status).toBe(200)
    expect(body.message).toContain(body.signingDate)
    const signature = await account.signMessage({ message: body.message })
    const proof = { signature, signingDate: body.signingDate, type: 'evm', wallet: account.address }
    const { token } = (await world.post('/v1/auth/token', proof)).body
    const key = { authenticationKey: token, token, isValid: true }
    expect((await world.post('/v0.1/auth/token', proof)).body).toEqual(key)
    expect((await world.post('/v0.1/auth/key', proof)).body).toEqual(key)
    const wallet = account.address.toLowerCase()
    const ways: Record<string, string>[] = [
      { 'x-auth-key': token },
      { authorization: `Bearer ${token}` },
    ]
    for (const headers of ways) {
      for (const method of ['GET', 'POST']) {
        const name = `${method} ${JSON.stringify(headers)}`
        const reply = await world.request('/v0.1/auth/validate', { method, headers })
        expect(reply.body, name).toEqual({
          signature,
          signingDate: body.signingDate,
          type: 'evm',
          wallet,
          isValid: true,
        })
        expect(reply.headers.get('deprecation'), name).toMatch(/^@/)
        expect(reply.headers.get('vary'), name).toContain('X-AUTH-KEY')
      }
    }
    const nobody = await world.request('/v0.1/auth/validate', {
      method: 'POST',
      headers: { 'x-auth-key': 'x' },
    })
    expect(nobody).toMatchObject({ status: 401, body: { isValid: false } })
  })
})

describe('POST /v0.1/cluster/:name/update/wallets', () => {
  const update = (of: Member, name: string, body: unknown) =>
    of.call('POST', `/v0.1/cluster/${name}/update/wallets`, body)
  const namesOf = async (name: string) =>
    (await world.get(`/v0.1/cluster/${name}`)).body.wallets.map(
      (wallet: { name: string }) => wallet.name.split('/')[1],
    )

  it('removes, renames and adds, in this order', async () => {
    const alice = await member()
    const name = freshName()
    const one = randomAddress()
    const two = randomAddress()
    await register(alice, name)
    const first = await update(alice, name.toUpperCase(), { add: [{ address: one, name: 'one' }] })
    expect(first).toMatchObject({ status: 201, body: { success: true } })
    expect(first.headers.get('deprecation')).toMatch(/^@/)
    // the removed wallet frees its name for the renamed one, which frees its former name for the added one
    const change = {
      add: [{ name: 'main', address: two }],
      update: [{ address: alice.address, name: 'one' }],
      remove: [one],
    }
    expect((await update(alice, name, change)).status).toBe(201)
    expect(await namesOf(name)).toEqual(['one', 'main'])
    expect((await world.get(`/v0.1/name/${two}`)).body).toBe(`${name}/main`)
    expect((await update(alice, name, {})).status).toBe(201)
  })

  it('accepts addresses of other chains, and shows them with their type', async () => {
    const alice = await member()
    const name = freshName()
    await register(alice, name)
    const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
    const { resume } = (await world.get('/v0.1/events?limit=5000')).body
    expect((await update(alice, name, { add: [{ address, name: 'btc' }] })).status).toBe(201)
    const wallet = { type: 'bitcoin-p2wpkh', address, name: `${name}/btc`, isVerified: false }
    expect((await world.get(`/v0.1/address/${name}/btc`)).body).toEqual(wallet)
    expect((await world.get(`/v0.1/cluster/${name}`)).body.wallets[1]).toEqual(wallet)
    expect((await world.get(`/v0.1/name/${address}`)).body).toBe(`${name}/btc`)
    expect((await world.get(`/v0.1/cluster/address/${address}`)).body).toBeNull()
    expect((await world.get(`/v0.1/events?nextPage=${resume}`)).body.items).toMatchObject([
      {
        eventType: 'updateWallet',
        bytes32Address: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        address,
        addressType: 'bitcoin-p2wpkh',
        data: { name: 'btc', isVerified: 0 },
      },
    ])
  })

  it('changes all or nothing, only in the caller’s own cluster', async () => {
    const alice = await member()
    const bob = await member()
    const name = freshName()
    const other = freshName()
    await register(alice, name)
    await register(bob, other)
    const refused = async (of: Member, at: string, body: unknown, status: number, error: string) =>
      expect(await update(of, at, body)).toMatchObject({ status, body: { status, error } })
    const add = [{ address: randomAddress(), name: 'new' }]
    await refused(alice, name, { add, remove: [alice.address] }, 409, 'last_verified_wallet')
    await refused(
      alice,
      name,
      { add: [...add, { address: randomAddress(), name: 'new' }] },
      409,
      'wallet_name_taken',
    )
    await refused(
      alice,
      name,
      { add, update: [{ address: randomAddress(), name: 'x' }] },
      404,
      'not_in_cluster',
    )
    await refused(
      alice,
      name,
      { add: [{ address: 'junk', name: 'x' }] },
      400,
      'unsupported_address',
    )
    await refused(
      alice,
      name,
      { add: [{ address: randomAddress(), name: 'a b' }] },
      400,
      'invalid_name',
    )
    await refused(alice, name, { add: 'x' }, 400, 'invalid_request')
    await refused(alice, name, undefined, 400, 'invalid_request')
    await refused(bob, name, { add }, 403, 'forbidden')
    await refused(await member(), name, { add }, 403, 'forbidden')
    await refused(alice, freshName(), { add }, 404, 'not_found')
    expect(await namesOf(name)).toEqual(['main'])
    const unsigned = await world.post(`/v0.1/cluster/${name}/update/wallets`, { add })
    expect(unsigned).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
  })

  describe('of a cluster that two wallets verified', () => {
    let alice: Member
    let bob: Member
    let name: string
    beforeEach(async () => {
      alice = await member()
      bob = await member()
      name = freshName()
      await register(alice, name)
      await alice.call('POST', `/v0.1/cluster/${name}/update/wallets`, {
        update: [],
        remove: [],
        add: [{ address: bob.address, name: 'bob' }],
      })
      const { clusterId } = (await world.get(`/v1/clusters/address/${alice.address}`)).body
      expect((await bob.call('POST', `/v1/clusters/verify/${clusterId}`)).status).toBe(200)
    })
    const leave = (add: object[]) =>
      bob.call('POST', `/v0.1/cluster/${name}/update/wallets`, {
        add,
        update: [],
        remove: [bob.address],
      })
    const wallets = async () => (await world.get(`/v0.1/cluster/${name}`)).body.wallets

    it('lets a wallet leave, like DELETE /v1/clusters/wallets', async () => {
      expect(await leave([])).toMatchObject({ status: 201, body: { success: true } })
      expect(await wallets()).toHaveLength(1)
    })

    it('changes nothing, and creates no cluster, for a caller that leaves and adds in one request', async () => {
      const address = randomAddress()
      expect(await leave([{ address, name: 'x' }])).toMatchObject({
        status: 404,
        body: { error: 'not_in_cluster' },
      })
      expect((await world.get(`/v1/names/address/${address}`)).status).toBe(404)
      expect(await wallets()).toHaveLength(2)
    })
  })
})
