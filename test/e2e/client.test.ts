import { createWalletClient, custom, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  Client,
  type ClientOptions,
  ClusterdError,
  type SolanaWallet,
  type StandardWallet,
} from '../../src/client/index.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { solanaAccount } from '../api/wallets.js'
import { freshName, freshWallet, sendQuoted, world } from '../support/world.js'

/**
 * Tests of the client's own methods, and of methods with several calls. examples.test.ts calls each route with the
 * client.
 */

const clientOf = (options: Partial<ClientOptions> = {}) =>
  new Client({ url: world().api, ...options })
const refused = async (call: Promise<unknown>, ...codes: string[]): Promise<void> => {
  const error = await call.then(
    () => expect.unreachable(`the call was not refused with ${codes}`),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ClusterdError)
  expect(codes).toContain((error as ClusterdError).code)
}

const client = clientOf()
const nobody = `0x${'12'.repeat(20)}`
const clubName = freshName('club')
let owner: PrivateKeyAccount
let friend: PrivateKeyAccount
let tx: Hex

/** A client with a signed-in wallet. */
async function memberOf(account: PrivateKeyAccount): Promise<Client> {
  const member = clientOf()
  await member.signIn(account)
  return member
}
let member: Client
let friendly: Client

beforeAll(async () => {
  ;[owner, friend] = await Promise.all([freshWallet(), freshWallet()])
  ;[member, friendly] = await Promise.all([memberOf(owner), memberOf(friend)])
})

describe('the client', () => {
  it('registers a name and waits for it', async () => {
    expect(await client.availability([clubName, 'a b'])).toEqual([
      { name: clubName, isAvailable: true },
      { name: 'a b', isAvailable: false, reason: 'invalid_name' },
    ])
    expect((await client.networks()).map(({ network }) => network)).toContain('8453')
    const request = { network: '1', sender: owner.address, names: [{ name: clubName }] }
    const quote = await client.quote(request)
    expect(await client.request('POST', '/v1/register/evm', { body: request })).toEqual(quote)
    tx = await sendQuoted('1', owner, quote as never)
    expect(await client.waitForStatus(tx)).toMatchObject({ tx, status: 'finalized' })
    expect(await client.status(tx)).toMatchObject({
      status: 'finalized',
      names: [{ name: clubName, outcome: 'won' }],
    })
    await refused(client.quote(request), 'names_unavailable')
  })

  it('waits on the testnet, and for a status that is not final', async () => {
    const testnet = clientOf({ testnet: true })
    const account = await freshWallet('testnet')
    const name = freshName()
    const quote = await testnet.quote({
      network: '17000',
      sender: account.address,
      names: [{ name }],
    })
    const sent = await sendQuoted('17000', account, quote as never)
    expect((await testnet.waitForStatus(sent, { until: 'bridging' })).status).toMatch(
      /bridging|finalized/,
    )
    expect((await testnet.waitForStatus(sent)).status).toBe('finalized')
    expect(await testnet.addressOf(name)).toMatchObject({ address: account.address.toLowerCase() })
    expect(await client.addressOf(name)).toBeNull()
  })

  it('quotes Solana', async () => {
    const request = {
      network: 'solana' as const,
      sender: solanaAccount().address,
      names: [{ name: freshName() }],
    }
    if (world().networks.mainnet.solana) {
      expect(await client.quote(request)).toMatchObject({
        type: 'solana',
        gasToken: { symbol: 'SOL' },
      })
    } else await refused(client.quote(request), 'unsupported_network')
  })

  it('looks up names and addresses', async () => {
    const address = owner.address.toLowerCase()
    const hit = { address, clusterName: clubName, walletName: 'main', isVerified: true }
    expect(await client.nameOf(owner.address)).toMatchObject(hit)
    expect(await client.nameOf(nobody)).toBeNull()
    expect(await client.namesOf([nobody, address])).toMatchObject([{ clusterName: null }, hit])
    const wallets = [{ address, type: 'evm', name: 'main' }]
    const rows: unknown[] = []
    for await (const row of client.wallets([nobody, address], { types: ['evm'] })) rows.push(row)
    expect(rows).toMatchObject([
      { wallets: null },
      { input: address, clusterName: clubName, wallets },
    ])
    expect(await client.addressOf(`${clubName}/main`)).toMatchObject(hit)
    expect(await client.addressesOf([clubName, 'nobody-has-this'])).toHaveLength(1)
    expect(await client.ownedBy(address, { limit: 1 })).toMatchObject([
      { name: clubName, owner: address },
    ])
    const cluster = await client.cluster(clubName)
    expect(cluster?.wallets.map((wallet) => wallet.address)).toEqual([address])
    expect(await client.cluster(cluster!.id)).toEqual(cluster)
    expect(await client.cluster('nobody-has-this')).toBeNull()
    expect(await client.clusterIdOf(address)).toBe(cluster!.id)
    expect(await client.clusterIdOf(nobody)).toBeNull()
    expect(await client.refunds(address, { to: nobody })).toMatchObject({
      address,
      unavailable: [],
    })
    expect(
      await client.request('GET', '/image/{name}.svg', { params: { name: clubName } }),
    ).toMatch(/^<svg/)
  })

  it('changes a cluster', async () => {
    const id = await member.createCluster()
    expect(await member.request('POST', '/v1/bundle')).toEqual({ id })
    const address = friend.address.toLowerCase()
    const other = solanaAccount().address
    await member.addWallets([{ address, name: 'friend' }])
    await member.request('POST', '/v1/bundle/wallets', {
      body: [{ address: other, name: 'other', type: 'solana' }],
    })
    await member.renameWallets([{ address, name: 'pal' }])
    await member.removeWallets([other])
    await friendly.verifyIn(id)
    expect(await client.nameOf(address)).toMatchObject({
      clusterName: clubName,
      walletName: 'pal',
      isVerified: true,
    })
    await refused(friendly.addWallets([{ address, name: 'twice' }]), 'wallet_exists')
  })

  it('generates a wallet, and recovers its key', async () => {
    const body = { type: 'evm', name: 'generated', recovery: true } as const
    const made = await member.request('POST', '/v1/clusters/generate/wallet', { body })
    const { address, share } = made
    await member.request('POST', '/v1/clusters/generate/wallet/confirm', { body: { address } })
    const query = { type: 'evm', wallet: owner.address, recover: address } as const
    const { message, signingDate } = await member.request('GET', '/v1/auth/message', { query })
    const signature = await owner.signMessage({ message })
    const asked = { address, share, signature, signingDate }
    const key = await member.request('POST', '/v1/clusters/generate/wallet/recover', {
      body: asked,
    })
    expect(key).toMatchObject({ type: 'evm', address })
  })

  it('configures a community and registers below it', async () => {
    const params = { name: clubName }
    expect(await client.community(clubName)).toBeNull()
    await member.request('PUT', '/v1/communities/{name}', { params, body: {} })
    expect(await client.community(clubName)).toMatchObject({
      name: clubName,
      prices: [],
      ownersOnly: false,
    })
    const path = '/v1/names/community/{communityName}/check/{name}'
    const asked = { params: { communityName: clubName, name: 'alice' } }
    expect(await client.request('GET', path, asked)).toMatchObject({ isAvailable: true })
    const below = { clusterName: `${clubName}/alice` }
    expect(await friendly.registerBelow(clubName, { name: 'alice' })).toMatchObject(below)
    expect(await client.request('GET', path, asked)).toMatchObject({ isAvailable: false })
    expect(await client.request('GET', '/v1/communities/{name}/payouts', { params })).toEqual({
      payouts: [],
    })
    const airdrop = { params: { community: clubName } }
    await refused(member.request('GET', '/v1/airdrop/claim/{community}', airdrop), 'not_found')
    const assigned = { body: { community: clubName, name: 'bob' } }
    const codes = ['forbidden', 'not_found', 'requirements_not_met'] as const
    await refused(member.request('POST', '/v1/bundles/assign', assigned), ...codes)
    await refused(member.request('POST', '/bundles/assign', assigned), ...codes)
  })

  it('manages API keys', async () => {
    const made = await member.request('POST', '/v1/keys', { body: { name: 'my site' } })
    const params = { id: made.id }
    await clientOf({ apiKey: made.key }).networks()
    const body = { name: 'yours' }
    expect(await member.request('PATCH', '/v1/keys/{id}', { params, body })).toMatchObject(body)
    expect(await member.request('GET', '/v1/keys')).toMatchObject([{ id: made.id, name: 'yours' }])
    expect(await member.request('DELETE', '/v1/keys/{id}', { params })).toEqual({ success: true })
  })

  it('reads the feed page by page and as it grows', async () => {
    const page = await client.eventsPage({ limit: 2 })
    expect(page.items).toHaveLength(2)
    const seen: string[] = []
    let resume: string | undefined
    for await (const event of client.events({ limit: 2 })) {
      seen.push(event.id)
      resume = event.resume
      if (seen.length === 3) break
    }
    const rest = client.events({ resume })
    expect(await rest.next()).toMatchObject({
      value: { id: seen[2]!.replace(/\d+$/, (n) => String(Number(n) + 1)) },
    })
    await rest.return()
    const stop = new AbortController()
    const name = freshName('grown')
    let isLive = false
    for await (const event of client.events({ from: friend.address, signal: stop.signal })) {
      if (event.type === 'UPDATE_WALLET_NAME' && event.data.name === name) isLive = true
      if (isLive) stop.abort()
      else if (event.type === 'VERIFY_WALLET')
        await friendly.renameWallets([{ address: friend.address, name }])
    }
    expect(isLive).toBe(true)
  })
})

describe('signing in', () => {
  it('accepts accounts and wallet clients of viem', async () => {
    const own = clientOf()
    const token = await own.signIn(owner)
    expect(own.token).toBe(token)
    const valid = { isValid: true, type: 'evm' }
    expect(await own.request('GET', '/v1/auth/validate')).toMatchObject(valid)
    expect(await own.request('POST', '/v1/auth/validate')).toMatchObject(valid)
    expect(await clientOf({ token }).request('GET', '/v0.1/auth/validate')).toMatchObject({
      isValid: true,
    })
    await own.signOut()
    expect(own.token).toBeUndefined()
    await refused(clientOf({ token }).request('GET', '/v1/auth/validate'), 'unauthorized')
    const wallet = await freshWallet()
    const lost = clientOf()
    await lost.signIn(wallet)
    await own.signIn(wallet)
    await own.signOut({ everywhere: true })
    await refused(lost.request('GET', '/v1/auth/validate'), 'unauthorized')
    // like a browser's wallet, whose account is behind a provider
    const request = ({ method, params }: { method: string; params: [Hex] }): Promise<unknown> => {
      expect(method).toBe('personal_sign')
      return owner.signMessage({ message: { raw: params[0] } })
    }
    const browser = createWalletClient({
      account: owner.address,
      transport: custom({ request: request as never }),
    })
    expect(await clientOf().signIn(browser)).toMatch(/./)
  })

  describe('by wallets of Solana', () => {
    const account = solanaAccount()
    const sign = (message: Uint8Array) =>
      Uint8Array.from(fromHex(account.sign(Buffer.from(message).toString('utf8'))))
    const adapter: SolanaWallet = {
      publicKey: { toBase58: () => account.address },
      signMessage: async (message) => sign(message),
    }
    const phantom: SolanaWallet = {
      ...adapter,
      signMessage: async (message) => ({ signature: sign(message) }),
    }
    const standard: StandardWallet = {
      accounts: [{ address: account.address }],
      features: {
        'solana:signMessage': {
          signMessage: async ({ message }: { message: Uint8Array }) => [
            { signature: sign(message) },
          ],
        },
      },
    }

    it.each<{ name: string; wallet: SolanaWallet | StandardWallet }>([
      { name: 'an adapter', wallet: adapter },
      { name: 'Phantom', wallet: phantom },
      { name: 'the Wallet Standard', wallet: standard },
    ])('accepts $name', async ({ wallet }) => {
      const own = clientOf()
      await own.signIn(wallet)
      expect(await own.request('GET', '/v1/auth/validate')).toMatchObject({
        type: 'solana',
        wallet: account.address,
      })
    })
  })

  it('refuses wallets that can not sign', async () => {
    await expect(client.signIn({ publicKey: null })).rejects.toThrow(TypeError)
    await expect(client.signIn({ accounts: [], features: {} })).rejects.toThrow(TypeError)
    await expect(client.signIn({ signMessage: async () => '0x' })).rejects.toThrow(TypeError)
  })
})

describe('the deprecated routes', () => {
  it('return their old shapes', async () => {
    const address = owner.address.toLowerCase()
    const params = { name: clubName }
    expect(await client.request('POST', '/v0.1/register/check', { body: [clubName] })).toHaveLength(
      1,
    )
    const body = { sender: owner.address, names: [{ name: freshName() }], network: '1' }
    expect(await client.request('POST', '/v0.1/register', { body })).toMatchObject({
      bridgeFee: '0',
    })
    const wallet = { address, name: `${clubName}/main` }
    const path = '/v0.1/address/{name}/{addressName}'
    expect(
      await client.request('GET', path, { params: { ...params, addressName: 'main' } }),
    ).toMatchObject(wallet)
    expect(await client.request('POST', '/v0.1/name/addresses', { body: [address] })).toEqual([
      wallet,
    ])
  })

  it('change clusters and sign in as before', async () => {
    const params = { name: clubName }
    const update = [{ address: friend.address, name: 'mate' }]
    expect(
      await member.request('POST', '/v0.1/cluster/{name}/update/wallets', {
        params,
        body: { update },
      }),
    ).toBeTruthy()
    const { message, signingDate } = await client.request('GET', '/v0.1/auth/message')
    expect((await client.request('POST', '/v1/auth/message')).message.length).toBe(message.length)
    const signature = await owner.signMessage({ message })
    const body = { signature, signingDate, type: 'evm', wallet: owner.address } as const
    const { token } = await client.request('POST', '/v0.1/auth/token', { body })
    expect(await client.request('POST', '/v0.1/auth/key', { body })).toMatchObject({ token })
    expect(await clientOf({ token }).request('POST', '/v0.1/auth/validate')).toMatchObject({
      isValid: true,
    })
  })

  it('serve communities on the testnet', async () => {
    const testnet = clientOf({ testnet: true, token: friendly.token! })
    const clusterName = world().seeds.testnet!.communities!.open.name
    const names = { clusterName, walletName: freshName('c') }
    const requirements = '/v0.1/community/check/requirements/{clusterName}'
    const asked = { params: { clusterName }, query: { walletAddress: friend.address } }
    expect(await testnet.request('GET', requirements, asked)).toMatchObject({
      isRequirementsMet: true,
    })
    expect(await testnet.request('POST', '/v0.1/community/register', { body: names })).toEqual(
      names,
    )
  })
})
