import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LimitSettings } from '../../src/api/limits/gate.js'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { Client } from '../../src/client/client.js'
import { parseChainsFile } from '../../src/config/index.js'
import { startAnvil } from '../../src/testing/chains/anvil.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { type Safe, startSafes, wrapSignature } from '../support/safe.js'
import { useWorld } from '../support/useWorld.js'
import { type ApiWorld, limitsOf, type Reply, secondApi, startApi, stillBucket } from './support.js'

/** Wallets of Safe's real contracts, on a hub and on another mainnet chain, each with two nodes. */

const HUB = 31_337
const SPOKE = 31_338
const TESTNET = 11_155_111

const hubAnvil = useWorld(() => startAnvil({ chainId: HUB }))
const spokeAnvil = useWorld(() => startAnvil({ chainId: SPOKE }))
type Safes = Awaited<ReturnType<typeof startSafes>>
let hub: Safes
let spoke: Safes
let world: ApiWorld
let chains: ApiWorld['chains']
const proxies: { stop(): Promise<void> }[] = []

/** Calls of nodes about code and signatures. */
let called: { node: string; method: string; ms: number }[] = []
/** What nodes answer to `eth_call` in place of the truth. */
let lies: Readonly<Record<string, Hex>> = {}
const askedOf = (chain: 'hub' | 'spoke') =>
  called.flatMap(({ node, method }) =>
    method === 'eth_call' && node.startsWith(chain) ? [node] : [],
  )

const word = (value: number): Hex => `0x${value.toString().padStart(64, '0')}`
const INVALID = word(0)
const VALID = word(1)
const NO_CODE = word(2)

async function startNode(node: string, target: string): Promise<string> {
  const proxy = await startRpcProxy(target, async (method) => {
    if (method !== 'eth_call' && method !== 'eth_getCode') return
    called.push({ node, method, ms: performance.now() })
    const lie = lies[node]
    if (lie === undefined || method !== 'eth_call') return
    return (answer) => JSON.stringify({ ...JSON.parse(answer), result: lie })
  })
  proxies.push(proxy)
  return proxy.url
}
const startNodes = (chain: string, target: string) =>
  Promise.all([1, 2].map((i) => startNode(`${chain} ${i}`, target)))

beforeAll(async () => {
  hub = await startSafes(hubAnvil.rpcUrl)
  spoke = await startSafes(spokeAnvil.rpcUrl)
  const contract = `0x${'11'.repeat(20)}`
  const rpcUrls = await startNodes('spoke', spokeAnvil.rpcUrl)
  const hubUrls = await startNodes('hub', hubAnvil.rpcUrl)
  const ofSpoke = { network: 'mainnet', label: '8453', chainId: SPOKE, role: 'spoke', rpcUrls }
  const ofHub = { ...ofSpoke, label: '1', chainId: HUB, role: 'hub', rpcUrls: hubUrls }
  const file = { chains: [ofHub, ofSpoke].map((chain) => ({ ...chain, contract })) }
  const config = parseChainsFile(file, 'test').chains[1]!
  const ofConfig = createEvmChain({ config, chain: 9, rpc: createEvmChainRpc(config) })
  world = await startApi({
    rpcUrls: { '1': hubUrls },
    otherChains: [ofConfig],
    configs: (configs) =>
      configs.map((one) => (one.network === 'testnet' ? { ...one, chainId: TESTNET } : one)),
    shareKeys: [Buffer.alloc(32, 5)],
  })
  chains = [...world.chains, ofConfig]
})
afterAll(async () => {
  await world?.stop()
  for (const proxy of proxies) await proxy.stop()
})
beforeEach(() => {
  called = []
  lies = {}
})

const newNonce = () => randomBytes(16).toString('base64url')
const newAccount = () => privateKeyToAccount(generatePrivateKey())
let salt = 0n
const plan = (owner = newAccount()): Promise<Safe> => {
  salt += 1n
  return hub.plan(owner, salt)
}

type Named = { chainId?: number; nonce?: string }
const messageFor = async (wallet: string, of: Named = {}): Promise<Reply['body']> => {
  const given = Object.entries(of).filter(([, value]) => value !== undefined)
  const named = given.map(([key, value]) => `&${key}=${value}`).join('')
  const { status, body } = await world.get(`/v1/auth/message?type=evm&wallet=${wallet}${named}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

interface SignIn extends Named {
  /** Chain whose Safe the signature is made for. */
  on?: Safes
  by?: Safe['owner']
  /** Changes the signature before it is sent. */
  as?: (signature: Hex) => string
}

/** Sends the signature of a Safe's owner over a new message. */
async function signIn(safe: Safe, { on = hub, by = safe.owner, as, chainId }: SignIn = {}) {
  const { message, signingDate } = await messageFor(safe.address, { chainId })
  const own = await on.sign(safe, by, message)
  const signature = as ? as(own) : own
  const body = { type: 'evm', wallet: safe.address, signature, signingDate, chainId }
  return world.post('/v1/auth/token', body)
}

async function expectKey(reply: Promise<Reply>, safe: Safe): Promise<string> {
  const { status, body } = await reply
  expect(status, JSON.stringify(body)).toBe(200)
  const headers = { authorization: `Bearer ${body.token}` }
  const { body: session } = await world.request('/v1/auth/validate', { headers })
  expect(session).toMatchObject({ wallet: safe.address, type: 'evm', isValid: true })
  return body.token
}
const expectRefused = async (reply: Promise<Reply>): Promise<void> =>
  void expect((await reply).body).toMatchObject({ status: 401, error: 'unauthorized' })

describe('a deployed wallet', () => {
  it('signs in on the hub, of which two nodes are asked', async () => {
    const safe = await plan()
    await hub.deploy(safe)
    called = []
    await expectKey(signIn(safe), safe)
    expect(askedOf('hub')).toEqual(['hub 1', 'hub 2'])
    await expectKey(signIn(safe, { chainId: HUB }), safe)
    await expectRefused(signIn(safe, { by: newAccount() }))
    expect(askedOf('spoke')).toEqual([])
  })

  it('signs in on another mainnet chain, which its message names', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    const { message } = await messageFor(safe.address, { chainId: SPOKE })
    expect(message).toContain(`\nChain ID: ${SPOKE}\n`)
    expect((await messageFor(safe.address)).message).toContain(`\nChain ID: ${HUB}\n`)
    await expectKey(signIn(safe, { on: spoke, chainId: SPOKE }), safe)
    await expectRefused(signIn(safe, { on: spoke }))
    await expectRefused(signIn(safe, { on: spoke, chainId: SPOKE, by: newAccount() }))
  })

  it('has a signature for one chain only', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    const { message, signingDate } = await messageFor(safe.address)
    const signature = await spoke.sign(safe, safe.owner, message)
    const proof = { type: 'evm', wallet: safe.address, signature, signingDate }
    await expectRefused(world.post('/v1/auth/token', { ...proof, chainId: SPOKE }))
  })

  it('is decided by the hub where it has code, whichever chain is named', async () => {
    const safe = await plan()
    const other = newAccount()
    await hub.deploy(safe)
    await spoke.deploy(safe)
    await spoke.replaceOwner(safe, other)
    // the contract of the other chain accepts the signature
    const named = { chainId: SPOKE }
    await expectRefused(signIn(safe, { ...named, on: spoke, by: other }))
    called = []
    await expectKey(signIn(safe, named), safe)
    expect(askedOf('spoke')).toEqual([])
  })

  it('signs in by the client, which names the chain', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    const { address, owner } = safe
    const signMessage = ({ message }: { message: string }) => spoke.sign(safe, owner, message)
    const wallet = { address, signMessage }
    const client = new Client({ url: world.url })
    await expect(client.signIn(wallet)).rejects.toMatchObject({ code: 'unauthorized' })
    expect(await client.signIn(wallet, { chainId: SPOKE })).toBe(client.token)
  })

  it('recovers the key of a wallet that was generated for it', async () => {
    const safe = await plan()
    await spoke.deploy(safe)
    const token = await expectKey(signIn(safe, { on: spoke, chainId: SPOKE }), safe)
    const send = (path: string, body: unknown) =>
      world.request(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      })
    await send('/v1/clusters', {})
    const wallet = { type: 'evm', name: 'made' }
    const { address, share } = (await send('/v1/clusters/generate/wallet', wallet)).body
    const query = `type=evm&wallet=${safe.address}&recover=${address}&chainId=${SPOKE}`
    const { message, signingDate } = (await world.get(`/v1/auth/message?${query}`)).body
    const signature = await spoke.sign(safe, safe.owner, message)
    const body = { address, share, signature, signingDate }
    const recover = '/v1/clusters/generate/wallet/recover'
    expect((await send(recover, body)).status).toBe(401)
    const { body: made } = await send(recover, { ...body, chainId: SPOKE })
    expect(privateKeyToAccount(made.privateKey).address.toLowerCase()).toBe(address)
  })
})

describe('a wallet that is not deployed', () => {
  const wrapped = (safe: Safe, factory = safe.deployment.factory) => ({
    as: (signature: Hex) => wrapSignature(signature, { ...safe.deployment, factory }),
  })

  it.each([
    ['the hub', () => ({ on: hub })],
    ['another chain', () => ({ on: spoke, chainId: SPOKE })],
  ])('signs in by a known factory on %s, and stays undeployed', async (_, where) => {
    const safe = await plan()
    await expectRefused(signIn(safe, where()))
    await expectKey(signIn(safe, { ...where(), ...wrapped(safe) }), safe)
    await expectRefused(signIn(safe, { ...where(), ...wrapped(safe), by: newAccount() }))
    const other = await plan()
    await expectRefused(signIn(safe, { ...where(), ...wrapped(other) }))
    expect([await hub.hasCode(safe), await spoke.hasCode(safe)]).toEqual([false, false])
  })

  it('is decided by the hub once it is deployed there', async () => {
    const safe = await plan()
    await hub.deploy(safe)
    await hub.replaceOwner(safe, newAccount())
    await expectRefused(signIn(safe, wrapped(safe)))
    const named = { on: spoke, chainId: SPOKE }
    await expectRefused(signIn(safe, { ...named, ...wrapped(safe) }))
  })

  it('gets a sentence about another factory, and no node is asked', async () => {
    const factory = `0x${'ab'.repeat(20)}` as const
    const safe = await plan()
    called = []
    const { status, body } = await signIn(safe, wrapped(safe, factory))
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(body.message).toContain(`factory ${factory} (ERC-6492)`)
    expect(called).toEqual([])
  })

  it.each([
    ['nothing but the suffix', ''],
    ['two words', 'ff'.repeat(64)],
    ['offsets that lead outside', `${'00'.repeat(12)}${'ab'.repeat(20)}${'ff'.repeat(64)}`],
  ])('of which the wrapping has %s is refused as malformed', async (_, inner) => {
    const safe = await plan()
    called = []
    const reply = await signIn(safe, { as: () => `0x${inner}${'6492'.repeat(16)}` })
    expect(reply.body).toMatchObject({ status: 400, error: 'invalid_request' })
    expect(called).toEqual([])
  })
})

describe('a multisig that approved the message on its chain', () => {
  it.each([
    ['0x', '0x'],
    ['0X', '0X'],
    ['JSON', '{"signature":"0x"}'],
  ])('signs in with the empty signature as %s', async (_, signature) => {
    const safe = await plan()
    await hub.deploy(safe)
    const nonce = newNonce()
    const { message, signingDate } = await messageFor(safe.address, { nonce })
    expect(message).not.toContain(nonce)
    const proof = { type: 'evm', wallet: safe.address, signature, signingDate, nonce }
    await expectRefused(world.post('/v1/auth/token', proof))
    await hub.approve(safe, message)
    const token = await expectKey(world.post('/v1/auth/token', proof), safe)
    expect(await expectKey(world.post('/v1/auth/token', proof), safe)).toBe(token)
    // whoever saw the approval, and knows the date, does not know the nonce
    await expectRefused(world.post('/v1/auth/token', { ...proof, nonce: newNonce() }))
    for (const path of ['/v1/auth/token', '/v0.1/auth/token']) {
      const { status, body } = await world.post(path, { ...proof, nonce: undefined })
      expect([status, body.error]).toEqual([400, 'invalid_request'])
      expect(body.message).toContain('needs a nonce')
    }
    const date = new Date(Date.parse(signingDate) + 1).toISOString()
    await expectRefused(world.post('/v1/auth/token', { ...proof, signingDate: date }))
  })

  it('needs a nonce where the empty signature is wrapped, and where its message has none', async () => {
    const safe = await plan()
    await hub.deploy(safe)
    const { message, signingDate } = await messageFor(safe.address)
    await hub.approve(safe, message)
    const proof = { type: 'evm', wallet: safe.address, signingDate }
    for (const signature of ['0x', wrapSignature('0x', safe.deployment)]) {
      const reply = await world.post('/v1/auth/token', { ...proof, signature })
      expect(reply.body).toMatchObject({ status: 400, error: 'invalid_request' })
      await expectRefused(world.post('/v1/auth/token', { ...proof, signature, nonce: newNonce() }))
    }
  })

  it.each([
    ['without a nonce it is a 400', false],
    ['with one it opens a key', true],
  ])('is the same where an owner approved: %s', async (_, hasNonce) => {
    const safe = await plan()
    await hub.deploy(safe)
    const nonce = hasNonce ? newNonce() : undefined
    const { message, signingDate } = await messageFor(safe.address, { nonce })
    const signature = await hub.approveAsOwner(safe, message)
    const proof = { type: 'evm', wallet: safe.address, signature, signingDate, nonce }
    const reply = world.post('/v1/auth/token', proof)
    if (hasNonce) await expectKey(reply, safe)
    else expect((await reply).body).toMatchObject({ status: 400, error: 'invalid_request' })
  })

  it('signs in by the client, which sends the nonce', async () => {
    const safe = await plan()
    await hub.deploy(safe)
    const signMessage = async ({ message }: { message: string }): Promise<Hex> => {
      await hub.approve(safe, message)
      return '0x'
    }
    const wallet = { address: safe.address, signMessage }
    const client = new Client({ url: world.url })
    await expect(client.signIn(wallet)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await client.signIn(wallet, { nonce: newNonce() })).toBe(client.token)
  })

  it('is another thing than an account without code, and than a text', async () => {
    const nonce = newNonce()
    const { signingDate } = await messageFor(newAccount().address)
    const proof = { type: 'evm', wallet: newAccount().address, signature: '0x', signingDate, nonce }
    await expectRefused(world.post('/v1/auth/token', proof))
    for (const signature of ['', '""', '{}', '0x0', 'x'])
      expect((await world.post('/v1/auth/token', { ...proof, signature })).status).toBe(400)
  })
})

describe('a nonce', () => {
  it('gives an account another text and another key of the same date, and the key stays valid', async () => {
    const account = newAccount()
    const nonce = newNonce()
    const { message, signingDate } = await messageFor(account.address, { nonce })
    const signature = await account.signMessage({ message })
    const proof = { type: 'evm', wallet: account.address, signature, signingDate }
    await expectRefused(world.post('/v1/auth/token', proof))
    const { body } = await world.post('/v1/auth/token', { ...proof, nonce })
    const headers = { authorization: `Bearer ${body.token}` }
    expect((await world.request('/v1/auth/validate', { headers })).status).toBe(200)
  })

  it.each(['x'.repeat(15), 'x'.repeat(65), `${'x'.repeat(16)}|`, `${'x'.repeat(16)}%0A`])(
    '%s is malformed',
    async (nonce) => {
      const account = newAccount()
      const query = `type=evm&wallet=${account.address}&nonce=${nonce}`
      const asked = await world.get(`/v1/auth/message?${query}`)
      const { message, signingDate } = await messageFor(account.address)
      const signature = await account.signMessage({ message })
      const proof = { type: 'evm', wallet: account.address, signature, signingDate }
      const sent = decodeURIComponent(nonce)
      const reply = await world.post('/v1/auth/token', { ...proof, nonce: sent })
      for (const { status, body } of [asked, reply])
        expect([status, body.error]).toEqual([400, 'invalid_request'])
    },
  )

  it('without a wallet is malformed', async () => {
    const { status, body } = await world.get(`/v1/auth/message?nonce=${newNonce()}`)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })
})

describe('nodes that contradict each other', () => {
  it.each([
    ['hub 1', VALID],
    ['hub 2', VALID],
    ['spoke 1', VALID],
    ['spoke 2', VALID],
  ])('open no key: %s accepts every signature', async (node, lie) => {
    const safe = await plan()
    await spoke.deploy(safe)
    lies = { [node]: lie }
    const named = { on: spoke, chainId: SPOKE }
    await expectRefused(signIn(safe, { ...named, by: newAccount() }))
    await expectRefused(signIn(safe, { by: newAccount() }))
  })

  it.each(['hub 1', 'hub 2'])('open no key: %s hides the code', async (node) => {
    const safe = await plan()
    const other = newAccount()
    await hub.deploy(safe)
    await spoke.deploy(safe)
    await spoke.replaceOwner(safe, other)
    lies = { [node]: NO_CODE }
    await expectRefused(signIn(safe, { chainId: SPOKE, on: spoke, by: other }))
  })

  it.each<Hex>(['0x', INVALID, word(3), `${VALID}00`])(
    'open no key where both answer %s',
    async (answer) => {
      const safe = await plan()
      await hub.deploy(safe)
      lies = { 'hub 1': answer, 'hub 2': answer }
      await expectRefused(signIn(safe))
    },
  )
})

describe('a chainId', () => {
  const wallet = newAccount().address
  it.each([
    ['of a testnet', TESTNET],
    ['of an unknown chain', 5],
    ['that is 0', 0],
    ['that is huge', Number.MAX_SAFE_INTEGER],
  ])('%s is refused by a sentence', async (_, chainId) => {
    const asked = await world.get(`/v1/auth/message?type=evm&wallet=${wallet}&chainId=${chainId}`)
    const { signingDate } = await messageFor(wallet)
    const proof = { type: 'evm', wallet, signature: `0x${'ab'.repeat(65)}`, signingDate, chainId }
    const sent = await world.post('/v1/auth/token', proof)
    for (const { status, body } of chainId === 0 ? [asked] : [asked, sent]) {
      expect([status, body.error]).toEqual([400, 'unsupported_network'])
      expect(body.message).toBe(
        `The chainId ${chainId} is not a mainnet chain of this service. Smart wallets sign in on: ${HUB}, ${SPOKE}.`,
      )
    }
    expect(sent.status).toBe(400)
  })

  it.each([
    ['without a wallet', `chainId=${SPOKE}`],
    ['of a Solana wallet', `type=solana&wallet=${'1'.repeat(32)}&chainId=${SPOKE}`],
    ['in words', `type=evm&wallet=${wallet}&chainId=base`],
    ['in hex', `type=evm&wallet=${wallet}&chainId=0x2105`],
    ['given twice', `type=evm&wallet=${wallet}&chainId=1&chainId=2`],
  ])('%s is malformed', async (_, query) => {
    const { status, body } = await world.get(`/v1/auth/message?${query}`)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  it('is no matter for an account with a key, which signs any of the messages', async () => {
    const account = newAccount()
    for (const chainId of [undefined, SPOKE]) {
      const { message, signingDate } = await messageFor(account.address, { chainId })
      const signature = await account.signMessage({ message })
      const proof = { type: 'evm', wallet: account.address, signature, signingDate, chainId }
      expect((await world.post('/v1/auth/token', proof)).status).toBe(200)
    }
    expect(called).toEqual([])
  })
})

describe('with limits', () => {
  const apis: { stop(): Promise<void> }[] = []
  const start = async (address: LimitSettings['address']) => {
    const limits = limitsOf(1, { address })
    const api = await secondApi(world, { chains, trustProxy: 1, limits })
    apis.push(api)
    return (from: string, proof: object) =>
      fetch(`${api.url}/v1/auth/token`, {
        method: 'POST',
        headers: { 'x-forwarded-for': from },
        body: JSON.stringify(proof),
      })
  }
  afterAll(() => Promise.all(apis.map((api) => api.stop())))

  it('a sign-in costs 10 units, and 5 for each node that is asked', async () => {
    const send = await start(stillBucket(300))
    const spent = async (from: string, proof: object): Promise<number> => {
      const { status, headers } = await send(from, proof)
      expect(status).toBe(200)
      return 300 - Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1])
    }
    const account = newAccount()
    const { message, signingDate } = await messageFor(account.address)
    const signature = await account.signMessage({ message })
    const ofKey = { type: 'evm', wallet: account.address, signature, signingDate }
    expect(await spent('203.0.113.1', ofKey)).toBe(10)

    const proofOn = async (safes: Safes, chainId: number) => {
      const safe = await plan()
      await safes.deploy(safe)
      const { message, signingDate } = await messageFor(safe.address, { chainId })
      const signature = await safes.sign(safe, safe.owner, message)
      return { type: 'evm', wallet: safe.address, signature, signingDate, chainId }
    }
    expect(await spent('203.0.113.2', await proofOn(hub, HUB))).toBe(20)
    expect(await spent('203.0.113.3', await proofOn(spoke, SPOKE))).toBe(30)
  })

  it('an address causes at most 20 calls of nodes in any second', async () => {
    const send = await start({ perSecond: 50, burst: 300 })
    const untilMs = performance.now() + 4_000
    const statuses = new Set<number>()
    let count = 0
    const flood = async () => {
      while (performance.now() < untilMs) {
        const signingDate = new Date().toISOString()
        const signature = `0x${'ab'.repeat(65)}`
        const wallet = newAccount().address
        count += 1
        const chainId = count % 2 ? SPOKE : undefined
        const proof = { type: 'evm', wallet, signature, signingDate, chainId }
        statuses.add((await send('203.0.113.9', proof)).status)
      }
    }
    called = []
    await Promise.all(Array.from({ length: 8 }, flood))
    const inSecondAfter = ({ ms }: { ms: number }): number =>
      called.filter((other) => other.ms >= ms && other.ms < ms + 1_000).length
    expect(Math.max(...called.map(inSecondAfter))).toBeLessThanOrEqual(20)
    expect(called.length).toBeGreaterThan(8)
    expect([...statuses].sort()).toEqual([401, 429])
  })
})
