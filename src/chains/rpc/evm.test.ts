import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../testing/chains/anvil.js'
import { type FaultProxy, startFaultProxy } from '../../testing/faultProxy/faultProxy.js'
import type { FaultKind } from '../../testing/faultProxy/kinds.js'
import { waitFor } from '../../testing/processes/processes.js'
import { createRpc, type Rpc } from './evm.js'

const CHAIN_ID = 31_337
const WAIT_S = 1

let anvil: Anvil
let proxies: FaultProxy[] = []
beforeAll(async () => {
  anvil = await startAnvil({ chainId: CHAIN_ID })
})
afterAll(() => anvil.stop())
afterEach(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  proxies = []
})

/** A node that counts calls per method and fails on demand. */
async function node(
  fault: (method: string) => FaultKind | null = () => null,
): Promise<{ url: string; calls: string[]; proxy: FaultProxy }> {
  const calls: string[] = []
  const faults = ({ method }: { method: string }) => {
    calls.push(method)
    return fault(method)
  }
  const proxy = await startFaultProxy({
    target: anvil,
    seed: 1,
    faults,
    limits: { retryAfterS: WAIT_S, staleBlocks: 9 },
  })
  proxies.push(proxy)
  return { url: proxy.rpcUrl, calls, proxy }
}

const pool = (...nodes: { url: string }[]): Rpc =>
  createRpc({ label: '1', urls: nodes.map(({ url }) => url), chainId: CHAIN_ID })
const gasPrice = (rpc: Rpc) => rpc.call<string>('eth_gasPrice', [])
const asked = ({ calls }: { calls: string[] }) => calls.filter((method) => method === 'eth_gasPrice').length

describe('a node that asks to wait', () => {
  it('is not asked until then, though it is the only one', async () => {
    let isBusy = true
    const only = await node((method) => (isBusy && method === 'eth_gasPrice' ? 'rate_limit' : null))
    const rpc = pool(only)
    await expect(gasPrice(rpc)).rejects.toThrow('no RPC URL answers')
    isBusy = false
    const started = performance.now()
    await expect(gasPrice(rpc)).rejects.toThrow('asked to wait')
    expect(asked(only)).toBe(1)
    expect(await waitFor(async () => gasPrice(rpc).then(Boolean, () => false), 5_000, 50)).toBe(true)
    expect(performance.now() - started).toBeGreaterThan(WAIT_S * 1_000 - 100)
  })

  it('is passed over for another', async () => {
    const busy = await node((method) => (method === 'eth_gasPrice' ? 'rate_limit' : null))
    const other = await node()
    const rpc = pool(busy, other)
    for (let i = 0; i < 3; i++) await gasPrice(rpc)
    expect([asked(busy), asked(other)]).toEqual([1, 3])
  })
})

describe('a node that is behind', () => {
  it('is passed over once the heads have been compared', async () => {
    const test = async (method: string, params: unknown[]) =>
      fetch(anvil.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
    await test('anvil_mine', ['0x20'])
    const late = await node((method) => (method === 'eth_blockNumber' ? 'stale_head' : null))
    const other = await node()
    // the lag is random per call: compare until it exceeds the limit
    for (let tries = 0; tries < 20; tries++) {
      const rpc = pool(late, other)
      await gasPrice(rpc)
      await rpc.demoteLaggingNodes()
      const before = asked(late)
      await gasPrice(rpc)
      if (asked(late) === before) return
    }
    throw new Error('a node that is behind is asked first')
  })
})

describe('a second opinion', () => {
  it('comes from another node, or not at all', async () => {
    const [first, second] = [await node(), await node()]
    const rpc = pool(first, second)
    const ask = (call: <T>(method: string, params: readonly unknown[]) => Promise<T>) =>
      call<string>('eth_gasPrice', [])
    const opinion = await rpc.onOneNode((call) => rpc.onAnotherNode(call, ask))
    expect(opinion).toMatch(/^0x/)
    expect([asked(first), asked(second)]).toEqual([0, 1])
    const alone = pool(first)
    expect(await alone.onOneNode((call) => alone.onAnotherNode(call, ask))).toBeNull()
  })
})
