import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { parseChainsFile } from '../../src/config/index.js'
import { startAnvil } from '../../src/testing/chains/anvil.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { type Safe, startSafes } from '../support/safe.js'
import { useWorld } from '../support/useWorld.js'
import { type ApiWorld, type Reply, startApi } from './support.js'

/** Wallets of Safe's real contracts, on a hub and on two other mainnet chains, each with two nodes. */

export const HUB = 31_337
export const SPOKE = 31_338
export const OTHER = 31_339

export type Safes = Awaited<ReturnType<typeof startSafes>>
export let hub: Safes
export let spoke: Safes
export let other: Safes
export let world: ApiWorld
export let chains: ApiWorld['chains']
const proxies: { stop(): Promise<void> }[] = []

/** Calls of nodes about code and signatures. */
export let called: { node: string; method: string; ms: number }[] = []
/** What nodes answer to `eth_call` in place of the truth. */
export let lies: Readonly<Record<string, Hex>> = {}
export const askedOf = (chain: 'hub' | 'spoke' | 'other') =>
  called.flatMap(({ node, method }) =>
    method === 'eth_call' && node.startsWith(chain) ? [node] : [],
  )

export const word = (value: number): Hex => `0x${value.toString().padStart(64, '0')}`
export const INVALID = word(0)
export const VALID = word(1)
export const NO_CODE = word(2)

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

/** Runs the chains and the API for the tests of a file. Files share a module where they share a worker. */
export function useSmartWalletWorld(): void {
  const hubAnvil = useWorld(() => startAnvil({ chainId: HUB }))
  const spokeAnvil = useWorld(() => startAnvil({ chainId: SPOKE }))
  const otherAnvil = useWorld(() => startAnvil({ chainId: OTHER }))

  beforeAll(async () => {
    hub = await startSafes(hubAnvil.rpcUrl)
    spoke = await startSafes(spokeAnvil.rpcUrl)
    other = await startSafes(otherAnvil.rpcUrl)
    const contract = `0x${'11'.repeat(20)}`
    const rpcUrls = await startNodes('spoke', spokeAnvil.rpcUrl)
    const hubUrls = await startNodes('hub', hubAnvil.rpcUrl)
    const ofSpoke = { network: 'mainnet', label: '8453', chainId: SPOKE, role: 'spoke', rpcUrls }
    const ofHub = { ...ofSpoke, label: '1', chainId: HUB, role: 'hub', rpcUrls: hubUrls }
    const otherUrls = await startNodes('other', otherAnvil.rpcUrl)
    const ofOther = { ...ofSpoke, label: '10', chainId: OTHER, rpcUrls: otherUrls }
    const file = { chains: [ofHub, ofSpoke, ofOther].map((chain) => ({ ...chain, contract })) }
    const spokes = parseChainsFile(file, 'test')
      .chains.slice(1)
      .map((config, i) => createEvmChain({ config, chain: 9 + i, rpc: createEvmChainRpc(config) }))
    world = await startApi({
      rpcUrls: { '1': hubUrls },
      otherChains: spokes,
      shareKeys: [Buffer.alloc(32, 5)],
    })
    chains = [...world.chains, ...spokes]
  })
  afterAll(async () => {
    await world?.stop()
    for (const proxy of proxies.splice(0)) await proxy.stop()
  })
  beforeEach(() => {
    called = []
    lies = {}
  })
}

export const newNonce = () => randomBytes(16).toString('base64url')
export const newAccount = () => privateKeyToAccount(generatePrivateKey())
let salt = 0n
export const plan = (owner = newAccount()): Promise<Safe> => {
  salt += 1n
  return hub.plan(owner, salt)
}

export type Named = { chainId?: number; nonce?: string }
export const messageFor = async (wallet: string, of: Named = {}): Promise<Reply['body']> => {
  const given = Object.entries(of).filter(([, value]) => value !== undefined)
  const named = given.map(([key, value]) => `&${key}=${value}`).join('')
  const { status, body } = await world.get(`/v1/auth/message?type=evm&wallet=${wallet}${named}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

export interface SignIn extends Named {
  /** Chain whose Safe the signature is made for. */
  on?: Safes
  by?: Safe['owner']
  /** Changes the signature before it is sent. */
  as?: (signature: Hex) => string
}

/** Sends the signature of a Safe's owner over a new message. */
export async function signIn(safe: Safe, { on = hub, by = safe.owner, as, chainId }: SignIn = {}) {
  const { message, signingDate } = await messageFor(safe.address, { chainId })
  const own = await on.sign(safe, by, message)
  const signature = as ? as(own) : own
  const body = { type: 'evm', wallet: safe.address, signature, signingDate, chainId }
  return world.post('/v1/auth/token', body)
}

export async function expectKey(reply: Promise<Reply>, safe: Safe): Promise<string> {
  const { status, body } = await reply
  expect(status, JSON.stringify(body)).toBe(200)
  const headers = { authorization: `Bearer ${body.token}` }
  const { body: session } = await world.request('/v1/auth/validate', { headers })
  expect(session).toMatchObject({ wallet: safe.address, type: 'evm', isValid: true })
  return body.token
}
export const expectRefused = async (reply: Promise<Reply>): Promise<void> =>
  void expect((await reply).body).toMatchObject({ status: 401, error: 'unauthorized' })

export const setLies = (of: typeof lies): void => {
  lies = of
}
export const forgetCalls = (): void => {
  called = []
}
