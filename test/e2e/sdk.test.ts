import { readFileSync } from 'node:fs'
import { Clusters, getImageUrl, isNameValid } from '@clustersxyz/sdk'
import { Connection, Keypair, PublicKey, Transaction } from '@solana/web3.js'
import bs58 from 'bs58'
import type { Hex } from 'viem'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Network } from '../../src/registry/primitives/network.js'
import { until } from '../../src/testing/index.js'
import type { LegacyTransaction } from '../support/solanaTokens.js'
import {
  freshName,
  freshSolanaWallet,
  freshWallet,
  hubOf,
  sendQuoted,
  world,
} from '../support/world.js'

/**
 * The published client, unchanged except for its base address. It defines which requests and responses v0.1 has to
 * support.
 */
const PUBLISHED = 'https://api.clusters.xyz'
const unknown = `0x${'12'.repeat(20)}`
const solana = bs58.encode(Buffer.alloc(32, 99))
const JUNK = ['a b', '💥', '%', 'x'.repeat(40), 'a?b', 'a#b', '<script>', 'null', '']

let asked: { url: string; status: number }[] = []

beforeEach(() => {
  const { fetch } = globalThis
  asked = []
  vi.stubGlobal('fetch', async (input: string | URL, init?: RequestInit) => {
    const url = String(input)
    if (!url.startsWith(PUBLISHED)) return fetch(input, init)
    const response = await fetch(url.replace(PUBLISHED, world().api), init)
    asked.push({ url, status: response.status })
    return response
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
})

const clientOf = (network: Network, apiKey?: string) =>
  new Clusters({ isTestnet: network === 'testnet', ...(apiKey !== undefined && { apiKey }) })
const wallet = (address: string, name: string) => ({ type: 'evm', address, name, isVerified: true })
const clusterOf = (name: string, address: string) => ({
  name: `${name}/`,
  profileUrl: `${siteOf()}/${name}`,
  imageUrl: `${siteOf()}/image/${name}.svg`,
  hasCustomImage: false,
  wallets: [wallet(address, `${name}/main`)],
})
const siteOf = () => world().api.replace('127.0.0.1', 'localhost')

describe.each(['mainnet', 'testnet'] as const)('@clustersxyz/sdk on %s', (network) => {
  const seed = () => world().seeds[network]!

  it('finds names', async () => {
    const client = clientOf(network, 'any key')
    const { name, owner } = seed()
    expect(await client.getName(owner)).toBe(`${name}/main`)
    expect(await client.getName(unknown)).toBeNull()
    expect(await client.getName(solana)).toBeNull()
    expect(await client.getNames([owner, unknown, solana, 'junk'])).toEqual([
      { address: owner, name: `${name}/main` },
      { address: unknown, name: null },
      { address: solana, name: null },
      { address: 'junk', name: null },
    ])
    expect(await client.getNames([])).toEqual([])
  })

  it('finds addresses', async () => {
    const client = clientOf(network)
    const { name, owner } = seed()
    for (const form of [name, `${name}/`, `${name}/main`, name.toUpperCase()])
      expect(await client.getAddress(form), form).toEqual(wallet(owner, `${name}/main`))
    for (const form of ['nobody-has-this', `${name}/other`])
      expect(await client.getAddress(form), form).toBeNull()
    expect(
      await client.getAddresses([`${name}/`, 'nobody-has-this/', `${name}/main`, 'a b']),
    ).toEqual([wallet(owner, `${name}/`), wallet(owner, `${name}/main`)])
  })

  it('finds clusters', async () => {
    const client = clientOf(network)
    const { name, owner } = seed()
    const cluster = clusterOf(name, owner)
    expect(await client.getCluster(name)).toEqual(cluster)
    expect(await client.getCluster(`${name}/`)).toEqual(cluster)
    expect(await client.getCluster('nobody-has-this/')).toBeNull()
    expect(await client.getClusters([`${name}/`, 'nobody-has-this/', name])).toEqual([
      cluster,
      cluster,
    ])
    expect(await client.getClusterByAddress(owner)).toEqual(cluster)
    for (const address of [unknown, solana])
      expect(await client.getClusterByAddress(address), address).toBeNull()
    const picture = await fetch(cluster.imageUrl.replace(siteOf(), PUBLISHED))
    expect(picture.headers.get('content-type')).toBe('image/svg+xml')
  })

  it.each(JUNK)('gets null for "%s" without an error', async (junk) => {
    const client = clientOf(network)
    expect(await client.getName(junk)).toBeNull()
    // a question mark or a hash ends the path that the client builds, so it asks for the text before it
    expect(await client.getAddress(junk)).toBeNull()
    expect(await client.getCluster(junk)).toBeNull()
    expect(await client.getNames([junk])).toEqual([{ address: junk, name: null }])
    expect(await client.getAddresses([junk])).toEqual([])
    expect(await client.getClusters([junk])).toEqual([])
    expect(asked.filter(({ status }) => status >= 500)).toEqual([])
  })

  it.each(JUNK.slice(0, 4))('gets no result for "%s" without an error', async (junk) => {
    const client = clientOf(network)
    expect(await client.getClusterByAddress(junk)).toBeNull()
    expect(await client.getNameAvailability(junk)).toMatchObject({ isAvailable: false })
    expect(await client.getTransactionStatus(junk as Hex)).toMatchObject({ status: 'not_found' })
    expect(asked.filter(({ status }) => status >= 500)).toEqual([])
  })

  it('checks availability', async () => {
    const client = clientOf(network)
    const free = freshName()
    expect(await client.getNameAvailability(free)).toEqual({ name: free, isAvailable: true })
    expect(await client.getNameAvailability(seed().name)).toEqual({
      name: seed().name,
      isAvailable: false,
    })
    expect(await client.getNameAvailabilityBatch([free, seed().name, 'a b'])).toEqual([
      { name: free, isAvailable: true },
      { name: seed().name, isAvailable: false },
      { name: 'a b', isAvailable: false },
    ])
  })

  it.each<{ status: string; txOf: () => Hex }>([
    { status: 'finalized', txOf: () => seed().tx.finalized },
    { status: 'lost_bid', txOf: () => seed().tx.lost },
    { status: 'pending', txOf: () => seed().tx.pending },
    { status: 'bridging', txOf: () => seed().tx.bridging! },
    { status: 'not_found', txOf: () => `0x${'ab'.repeat(32)}` },
  ])('reports the status of transactions: $status', async ({ status, txOf }) => {
    const client = clientOf(network)
    const tx = txOf()
    expect(await client.getTransactionStatus(tx)).toEqual({ tx, status })
  })

  it('registers from an EVM chain', async () => {
    const client = clientOf(network)
    const account = await freshWallet(network)
    const name = freshName()
    const { network: label, contracts } = hubOf(network)
    const names = [{ name, bidWeiAmount: '20000000000000000' }]
    const quote = await client.getRegistrationTransaction(
      names,
      account.address,
      label as '1',
      account.address,
    )
    expect(quote).toEqual({
      gasToken: { symbol: 'ETH', decimals: 18 },
      transactionData: {
        to: contracts.hub,
        data: expect.stringMatching(/^0xfdad12fd/),
        value: '20000000000000000',
      },
      registrationFee: '20000000000000000',
      bridgeFee: '0',
      names: [{ name, amount: '20000000000000000' }],
    })
    const tx = await sendQuoted(label, account, quote as never)
    await until.status(world(), tx, 'finalized', { testnet: network === 'testnet' })
    expect(await client.getTransactionStatus(tx)).toEqual({ tx, status: 'finalized' })
    expect(await client.getName(account.address)).toBe(`${name}/main`)
    const refused = await client.getRegistrationTransaction(names, account.address, label as '1')
    expect(refused).toMatchObject({ error: 'names_unavailable', names: [name] })
  })
})

describe('@clustersxyz/sdk, methods without a testnet', () => {
  it('quotes a spoke', async () => {
    const account = await freshWallet()
    const name = freshName()
    const quote = await clientOf('mainnet').getRegistrationTransaction(
      [{ name }],
      account.address,
      '10',
    )
    expect(quote?.gasToken.symbol).not.toBe('ETH')
    expect(BigInt(quote!.bridgeFee)).toBeGreaterThan(0n)
  })

  it.runIf(world().networks.mainnet.solana)('registers from Solana', async () => {
    const client = clientOf('mainnet')
    const { rpcUrl } = world().networks.mainnet.solana!
    const account = await freshSolanaWallet()
    const name = freshName()
    const sent = { name, bidWeiAmount: '10000000000000000' }
    const quote = await client.getRegistrationTransaction([sent], account.address, 'solana')
    expect(quote?.gasToken).toEqual({ symbol: 'SOL', decimals: 'lamports' })
    const [json] = quote!.transactionData as LegacyTransaction[]
    expect(json).toMatchObject({ feePayer: account.address, nonceInfo: null, signers: [] })
    // as the client decodes it
    const transaction = new Transaction({ recentBlockhash: json!.recentBlockhash })
    transaction.feePayer = new PublicKey(json!.feePayer)
    for (const { keys, programId, data } of json!.instructions) {
      transaction.add({
        keys: keys.map((meta) => ({ ...meta, pubkey: new PublicKey(meta.pubkey) })),
        programId: new PublicKey(programId),
        data: Buffer.from(data),
      })
    }
    transaction.sign(Keypair.fromSecretKey(bs58.decode(account.secretKey)))
    const tx = await new Connection(rpcUrl).sendRawTransaction(transaction.serialize())
    await until.status(world(), tx, 'finalized')
    expect(await client.getTransactionStatus(tx as Hex)).toEqual({ tx, status: 'finalized' })
    expect(await client.getAddress(name)).toMatchObject({
      type: 'solana',
      address: account.address,
    })
  })

  it('reads the events to their end, in both orders', async () => {
    const client = clientOf('mainnet')
    const walk = async (sortBy: 'oldest' | 'newest', limit: number) => {
      const items = []
      let page = await client.getEvents({ sortBy, limit })
      for (;;) {
        items.push(...page.items)
        if (!page.nextPage) return items
        page = await client.getEvents({ nextPage: page.nextPage, limit })
      }
    }
    const { name, owner } = world().seeds.mainnet!
    const whole = await walk('oldest', 5)
    const registered = whole.find(
      ({ eventType, data }) => eventType === 'register' && data?.name === name,
    )
    expect(registered).toEqual({
      eventType: 'register',
      clusterId: expect.any(Number),
      bytes32Address: `0x${'0'.repeat(24)}${owner.slice(2)}`,
      address: owner,
      addressType: 'evm',
      data: { name, weiAmount: 10 ** 16 },
      timestamp: expect.any(Number),
    })
    expect((await client.getEvents()).items.slice(0, whole.length)).toEqual(whole)
    const { timestamp } = registered!
    const since = await client.getEvents({ fromTimestamp: timestamp })
    const times = since.items.map((event: { timestamp: number }) => event.timestamp)
    expect(Math.min(...times)).toBeGreaterThanOrEqual(timestamp)
    expect((await walk('newest', 7)).reverse().slice(0, whole.length)).toEqual(whole)
    // the client's form of absent options
    expect(
      (await client.getEvents({ nextPage: undefined, limit: undefined } as object)).items.length,
    ).toBeGreaterThan(3)
    await expect(clientOf('testnet').getEvents()).rejects.toThrow('not testnet compatible')
  })

  it.each([
    ['foobar', true],
    ['FooBar', true],
    ['a-b_c', true],
    ['x'.repeat(32), true],
    ['a b', false],
    ['é', false],
    ['x'.repeat(33), false],
  ])('accepts the same names as we do: "%s", %s', (name, isValid) => {
    expect(isNameValid(name)).toBe(isValid)
  })

  it('builds URLs of images', () => {
    expect(getImageUrl('foobar/')).toMatch(/foobar$/)
  })
})

it('every method has a row in the table of docs/use/client.md', () => {
  const [, table = ''] = readFileSync('docs/use/client.md', 'utf8').split(
    '| @clustersxyz/sdk 0.4.3 |',
  )
  const methods = Object.entries(new Clusters()).flatMap(([name, value]) =>
    typeof value === 'function' ? [name] : [],
  )
  expect(methods.length).toBeGreaterThan(8)
  expect(methods.filter((method) => !table.includes(`\`${method}(`))).toEqual([])
})
