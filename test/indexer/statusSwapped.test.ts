import { type Hex, keccak256, numberToHex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRequestContexts } from '../../src/api/http/context.js'
import { evmTxStatus } from '../../src/api/status/evm.js'
import { ChainUnavailableError } from '../../src/chains/chain.js'
import { startCommunityWorld } from '../communities/communityWorld.js'
import { openChains } from '../support/bridgeWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'
import { answering } from './silentNodes.js'

const asFailed = (answer: string): string => {
  const { result, ...rest } = JSON.parse(answer) as { result: object }
  return JSON.stringify({
    ...rest,
    result: { ...result, status: '0x0', logs: [], blockNumber: `0x${failedIn!.toString(16)}` },
  })
}

const at = useWorld(() => startCommunityWorld(['club']))
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
/** The transaction whose receipt the node returns once for that of another. */
let mixedUp: Hex | null = null
/** The transaction that the node reports under a hash. Null: the true one. */
let invented: { hash: Hex; transaction: object | null } | null = null
/** Block in which the node reports every transaction as failed. */
let failedIn: number | null = null
/** True while the node answers no question about a transaction. */
let isSilent = false
beforeAll(async () => {
  await at.configure('club', { prices: [at.price('8453', 1_000n)] })
  proxy = await startRpcProxy(at.world.spoke.anvil.rpcUrl, async (method, body) => {
    if (method === 'eth_getTransactionByHash' && invented && body.includes(invented.hash))
      return answering(() => ({ result: invented!.transaction }))
    if (isSilent && method.startsWith('eth_getTransaction')) return 'lost'
    if (method !== 'eth_getTransactionReceipt') return undefined
    if (failedIn !== null) return asFailed
    if (!mixedUp) return undefined
    const swapped = body.replace(/"0x[0-9a-f]{64}"/, `"${mixedUp}"`)
    mixedUp = null
    return { body: swapped }
  })
})
afterAll(() => proxy?.stop())

/** The API with these nodes of the spoke. */
async function contextOver(...rpcUrls: string[]) {
  const file = structuredClone(at.world.file) as { chains: { rpcUrls: string[] }[] }
  file.chains[1]!.rpcUrls = rpcUrls
  const chains = (await openChains(at.pool, file)).map(({ chain }) => chain)
  const config = { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) }
  return createRequestContexts({ pool: at.pool, chains, config }).mainnet
}

it('a receipt of another transaction decides no status', async () => {
  const context = await contextOver(proxy.url)
  const to = at.world.wallet(2).address
  const old = await at.sideOf('8453').walletClient(3).sendTransaction({ to })
  await at.confirm()
  const { tx } = await at.pay({ on: '8453', name: 'ann' })
  const seen: string[] = [(await evmTxStatus(context, tx)).status]
  mixedUp = old
  seen.push(
    await evmTxStatus(context, tx).then(
      ({ status }) => status,
      () => 'unavailable',
    ),
  )
  expect(mixedUp).toBeNull()
  await at.judge()
  expect(await at.ownerOf('club', 'ann')).toBe(at.addressOf(1))
  seen.push((await evmTxStatus(context, tx)).status)
  expect(seen).toEqual(['pending', expect.stringMatching(/pending|unavailable/), 'finalized'])
})

it('a node on a fork where a transaction failed decides no status, where there is another node', async () => {
  const context = await contextOver(proxy.url, at.world.spoke.anvil.rpcUrl)
  await at.confirm()
  const { tx } = await at.pay({ on: '8453', name: 'ben' })
  const seen = [(await evmTxStatus(context, tx)).status]
  failedIn = 1
  seen.push((await evmTxStatus(context, tx)).status)
  failedIn = null
  await at.judge()
  seen.push((await evmTxStatus(context, tx)).status)
  expect(seen).toEqual(['pending', 'pending', 'finalized'])
})

it('a final status of a transaction that is not stored is never taken back, while one of two nodes is silent or on another fork', async () => {
  const rpcUrls = [proxy.url, at.world.spoke.anvil.rpcUrl]
  // each has a cache of its own, as each of two daemons has
  const [first, ...later] = await Promise.all([0, 1, 2].map(() => contextOver(...rpcUrls)))
  const to = at.world.wallet(2).address
  const hash = await at.sideOf('8453').walletClient(3).sendTransaction({ to })
  await at.confirm()
  const final = { status: 'invalid', reason: 'not_a_registration' }
  expect(await evmTxStatus(first!, hash)).toMatchObject(final)
  isSilent = true
  await expect(evmTxStatus(later[0]!, hash)).rejects.toThrow(ChainUnavailableError)
  isSilent = false
  failedIn = 1
  await expect(evmTxStatus(later[1]!, hash)).rejects.toThrow(ChainUnavailableError)
  failedIn = null
  for (const context of [first!, ...later])
    expect(await evmTxStatus(context, hash)).toMatchObject(final)
})

it('a node that invents the sender and nonce of a transaction does not make it replaced', async () => {
  const context = await contextOver(proxy.url, at.world.spoke.anvil.rpcUrl)
  const side = at.sideOf('8453')
  const { type: _, ...call } = await at.quote({ on: '8453', name: 'cay' })
  const wallet = side.walletClient(1)
  const request = await wallet.prepareTransactionRequest({ ...call, gas: 500_000n })
  const serializedTransaction = await wallet.signTransaction(request)
  const hash = keccak256(serializedTransaction)
  const used = await side.walletClient(3).sendTransaction({ to: at.world.wallet(2).address })
  await at.confirm()
  const { from, nonce } = await side.public.getTransaction({ hash: used })
  const sent = {
    hash,
    from,
    nonce: numberToHex(nonce),
    input: '0x',
    to: call.to,
    blockNumber: null,
  }
  const seen: string[] = []
  for (const transaction of [sent, null]) {
    invented = { hash, transaction }
    seen.push((await evmTxStatus(context, hash)).status)
  }
  invented = null
  expect(seen).toEqual(['pending', 'pending'])
  await side.public.sendRawTransaction({ serializedTransaction })
  await at.judge()
  expect(await at.ownerOf('club', 'cay')).toBe(at.addressOf(1))
  expect((await evmTxStatus(context, hash)).status).toBe('finalized')
})
