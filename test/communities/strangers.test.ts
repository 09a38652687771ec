import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { type Hex, keccak256 } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../../src/api/server.js'
import type { EvmChain } from '../../src/chains/evm/chain.js'
import { createEvmCommunityPaymentPort } from '../../src/chains/evm/community/port.js'
import { deployLocalToken } from '../../src/testing/contracts/deploy.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { MINIMUM_WEI, openChains } from '../support/bridgeWorld.js'
import { serve } from '../support/httpServer.js'
import { type OnCall, startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'
import { type Label, startCommunityWorld } from './communityWorld.js'

/** Work of the nodes that anybody can cause without a key, counted between the API and real nodes. */

/** Most calls of one kind to a node because of anonymous requests: at once, and waiting. */
const AT_ONCE = 32
const WAITING = 200
/** How long answers are cached: that a hash is unknown, that a wallet has no code, a bridge's fee. */
const UNKNOWN_MS = 2_000
const NO_CODE_MS = 5_000
const FEE_MS = 5_000

const at = useWorld(() => startCommunityWorld(['club']))
let hub: EvmChain
let spoke: EvmChain
const proxies: { stop(): Promise<void> }[] = []
const calls = new Map<string, number>()
const logged: string[] = []
let onCall: OnCall = async () => undefined
let base: string
let stopApi: () => Promise<void>

beforeAll(async () => {
  const counted = async (label: Label): Promise<string> => {
    const proxy = await startRpcProxy(at.sideOf(label).anvil.rpcUrl, async (method, body) => {
      const key = `${label} ${method}`
      calls.set(key, (calls.get(key) ?? 0) + 1)
      return onCall(method, body)
    })
    proxies.push(proxy)
    return proxy.url
  }
  const rpcUrls = { '1': [await counted('1')], '8453': [await counted('8453')] }
  const { chains } = at.world.file as { chains: { label: Label }[] }
  const opened = await openChains(at.pool, {
    chains: chains.map((one) => ({ ...one, rpcUrls: rpcUrls[one.label] })),
  })
  ;[hub, spoke] = opened.map(({ chain }) => chain) as [EvmChain, EvmChain]
  const api = createApi({
    pool: at.pool,
    chains: [hub.forStrangers(), spoke.forStrangers()],
    config: { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) },
    log: pino({ level: 'warn' }, { write: (line) => void logged.push(line) }),
  })
  ;({ url: base, stop: stopApi } = await serve(api.listener, api.limits))
})
afterAll(async () => {
  await stopApi?.()
  for (const proxy of proxies) await proxy.stop()
})
beforeEach(() => {
  calls.clear()
  onCall = async () => undefined
})

/** Holds matching calls to the node. @returns a function that releases these and all later calls */
function holdAll(isHeld: (method: string, body: string) => boolean): () => void {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  onCall = async (method, body) => {
    if (isHeld(method, body)) await released
    return undefined
  }
  return release
}
const count = (method: string, label: Label = '1'): number => calls.get(`${label} ${method}`) ?? 0
async function ask(path: string, body?: object) {
  const response = await fetch(
    `${base}${path}`,
    body ? { method: 'POST', body: JSON.stringify(body) } : {},
  )
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const statusOf = (hash: string) => ask(`/v1/names/register/tx/${hash}`)
const many = <T>(n: number, one: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => one(i)))
/** Most times that a cached answer may have been requested. */
const turnsSince = (startedMs: number, servedMs: number): number =>
  1 + Math.floor((performance.now() - startedMs) / servedMs)
const randomAddress = (): Hex => `0x${randomBytes(20).toString('hex')}`
const randomHash = (): Hex => `0x${randomBytes(32).toString('hex')}`

describe('the status of a hash', () => {
  it('is requested from a chain once in two seconds, and is known within seconds of the transaction', async () => {
    const hash = randomHash()
    const startedMs = performance.now()
    for (const { body } of await many(100, () => statusOf(hash)))
      expect(body).toMatchObject({ status: 'not_found' })
    for (const label of ['1', '8453'] as const)
      expect(count('eth_getTransactionByHash', label)).toBeLessThanOrEqual(
        turnsSince(startedMs, UNKNOWN_MS),
      )

    const wallet = at.world.hub.walletClient(3)
    const bid = await wallet.prepareTransactionRequest({
      to: at.world.contracts.hub,
      data: '0x',
      gas: 100_000n,
    })
    const raw = await wallet.signTransaction(bid)
    const own = keccak256(raw)
    expect((await statusOf(own)).body).toMatchObject({ status: 'not_found' })
    await at.world.hub.public.sendRawTransaction({ serializedTransaction: raw })
    expect(
      await waitForCondition(
        async () => (await statusOf(own)).body.status !== 'not_found',
        UNKNOWN_MS + 10_000,
      ),
    ).toBe(true)
  })

  it('that is unknown costs a node no more than its share, and does not block other calls', async () => {
    const port = hub.forStrangers()
    const release = holdAll((method) => method === 'eth_getTransactionByHash')
    const flood = Promise.allSettled(
      Array.from({ length: 1_000 }, () => port.transaction(randomHash(), -1)),
    )
    // meanwhile: a quote, a balance, a sign-in, and the indexer
    const quote = await ask('/v1/names/register/evm', registration('beside-a-flood'))
    expect(quote.status, JSON.stringify(quote.body)).toBe(200)
    expect(await port.tokenBalance(randomAddress(), randomAddress())).toBe(0n)
    expect(await port.isValidSignature(question(randomAddress()))).toBe(null)
    expect((await hub.heads()).latest.number).toBeGreaterThan(0)
    release()
    const refused = (await flood).filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThanOrEqual(1_000 - AT_ONCE - WAITING)
    expect(count('eth_getTransactionByHash')).toBeLessThanOrEqual(AT_ONCE + WAITING)
  })

  it('of somebody else’s transaction is not stored', async () => {
    const hash = await at.world.hub
      .walletClient(3)
      .sendTransaction({ to: randomAddress(), value: 1n })
    await at.world.hub.test.mine({ blocks: 3 })
    await at.world.index()
    expect(
      await waitForCondition(
        async () => (await statusOf(hash)).body.reason === 'not_a_registration',
        10_000,
      ),
    ).toBe(true)
    const { rows } = await at.pool.query('SELECT FROM tracked_txs WHERE hash = $1', [
      Buffer.from(hash.slice(2), 'hex'),
    ])
    expect(rows).toEqual([])
  })
})

const question = (wallet: Hex) => ({
  wallet,
  hash: randomHash(),
  signature: `0x${'ab'.repeat(65)}` as const,
  deployment: null,
  onCall() {},
})

const signIn = (wallet: Hex) =>
  ask('/v1/auth/token', {
    type: 'evm',
    wallet,
    signature: `0x${'ab'.repeat(65)}`,
    signingDate: new Date().toISOString(),
  })

describe('a wrong signature', () => {
  it('of an account without code makes only cached calls for its code', async () => {
    const wallet = randomAddress()
    const startedMs = performance.now()
    for (const { status } of await many(50, () => signIn(wallet))) expect(status).toBe(401)
    expect(count('eth_call')).toBe(0)
    expect(count('eth_getCode')).toBeLessThanOrEqual(turnsSince(startedMs, NO_CODE_MS))
  })
})

describe('the balances of a requirement', () => {
  it('are cached', async () => {
    const port = hub.forStrangers()
    const token = await at.deployToken()
    const wallet = randomAddress()
    await many(100, () => port.recentBalance!(token, wallet))
    expect(count('eth_call')).toBe(1)
  })

  it('delay no payment, at any number of requests', async () => {
    const token = await at.deployToken()
    await at.mint(token, 1, 5n)
    const requirements = [{ kind: 'token', network: '1', token, minimum: '5' }]
    await at.configure('club', { prices: [at.price('1', 1_000n)], requirements })
    // a block's time is in whole seconds, and the rules have to be older
    const timestamp = BigInt(Math.ceil(Date.now() / 1_000) + 1)
    await at.world.hub.test.setNextBlockTimestamp({ timestamp })
    const { tx } = await at.pay({ name: 'in-time' })
    await at.confirm()
    const port = hub.forStrangers()
    const other = randomAddress()
    const release = holdAll((_, body) => body.includes(other.slice(2)))
    const flood = Promise.allSettled(
      Array.from({ length: 1_000 }, () => port.tokenBalance(other, randomAddress())),
    )
    const ports = [createEvmCommunityPaymentPort(hub.rpc.forUse('judge'), hub.config)]
    expect(await at.judgeOf({ ports }).step()).toEqual({ kind: 'entered', payments: 1, waiting: 0 })
    expect(await at.status(tx)).toMatchObject({ status: 'finalized' })
    release()
    const refused = (await flood).filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThanOrEqual(1_000 - AT_ONCE - WAITING)
  })
})

describe('the unit of a token', () => {
  const unitOf = (token: string) => ask(`/v1/tokens/1/${token}`)

  it('of a precompile is null and 0, and its error counts as no fault of a node', async () => {
    for (let i = 1; i <= 17; i += 1) {
      const token = `0x${i.toString(16).padStart(40, '0')}`
      expect(await unitOf(token), token).toEqual({
        status: 200,
        body: { symbol: null, decimals: 0 },
      })
    }
    const resting = hub.rpc
      .health()
      .flatMap(({ nodes }) => nodes.filter(({ restMs }) => restMs > 0))
    expect(resting).toEqual([])
  })

  it('is cached', async () => {
    const { walletClient, public: publicClient } = at.world.hub
    const token = await deployLocalToken({ walletClient: walletClient(9), publicClient })
    calls.clear()
    for (const { body } of await many(100, () => unitOf(token)))
      expect(body).toEqual({ symbol: 'LOCAL', decimals: 18 })
    expect(count('eth_call')).toBe(2)
  })

  it('delays no quote, at any number of requests', async () => {
    const port = spoke.forStrangers()
    const half = 'ab'.repeat(10)
    const release = holdAll((_, body) => body.includes(half))
    const flood = Promise.allSettled(
      Array.from({ length: 1_000 }, () => port.tokenUnit!(`0x${half}${randomAddress().slice(22)}`)),
    )
    const quote = await ask('/v1/names/register/evm', registration('beside-units'))
    expect(quote.status, JSON.stringify(quote.body)).toBe(200)
    release()
    await flood
  })
})

const registration = (name: string, amountWei = MINIMUM_WEI) => ({
  network: '8453',
  sender: at.addressOf(1),
  names: [{ name, amountWei: String(amountWei) }],
})

describe('a quote of a spoke', () => {
  it('caches the fee of a size and an amount', async () => {
    const quote = async (name: string, amountWei?: bigint) => {
      const { status, body } = await ask('/v1/names/register/evm', registration(name, amountWei))
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    }
    const startedMs = performance.now()
    await quote('warms-up')
    calls.clear()
    // same size and amount as the one before
    const first = await quote('first')
    const second = await quote('second-longer-name')
    expect(count('eth_call', '8453')).toBeLessThan(turnsSince(startedMs, FEE_MS))
    expect(first.registrationFee).toBe(second.registrationFee)
    await quote('dearer', MINIMUM_WEI * 2n)
    expect(count('eth_call', '8453')).toBeLessThanOrEqual(turnsSince(startedMs, FEE_MS))
  })

  it.each([2n ** 128n, 2n ** 256n - 1n])(
    'of %d wei is refused as the caller’s fault',
    async (amountWei) => {
      logged.length = 0
      const { status, body } = await ask(
        '/v1/names/register/evm',
        registration('too-dear', amountWei),
      )
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_amount' })
      expect(count('eth_call', '8453')).toBe(0)
      expect(logged).toEqual([])
    },
  )
})

it('a node that asks the API to wait is still used by the indexer', async () => {
  onCall = async (method) =>
    method === 'eth_getTransactionByHash'
      ? (answer) =>
          JSON.stringify({
            jsonrpc: '2.0',
            id: (JSON.parse(answer) as { id: number }).id,
            error: { code: -32_005, message: 'rate limit exceeded' },
          })
      : undefined
  expect((await statusOf(randomHash())).status).toBe(503)
  calls.clear()
  expect((await hub.heads()).latest.number).toBeGreaterThan(0)
  expect((await statusOf(randomHash())).status).toBe(503)
  expect(count('eth_getTransactionByHash')).toBe(0)
})
