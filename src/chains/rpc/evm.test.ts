import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bodyOf, serveInTest } from '../../../test/support/httpServer.js'
import { useWorld } from '../../../test/support/useWorld.js'
import { startAnvil } from '../../testing/chains/anvil.js'
import { type FaultProxy, startFaultProxy } from '../../testing/faultProxy/faultProxy.js'
import type { FaultKind } from '../../testing/faultProxy/kinds.js'
import { waitForCondition } from '../../testing/processes/processes.js'
import { ChainBusyError } from '../chain.js'
import { RefutedAnswerError, RpcError } from './errors.js'
import { createEvmRpc, type EvmRpc } from './evm.js'
import { RpcNode } from './node.js'

const CHAIN_ID = 31_337
const WAIT_S = 1

const anvil = useWorld(() => startAnvil({ chainId: CHAIN_ID }))

/** A node that counts calls per method and fails on demand. */
async function startNode(
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
  onTestFinished(() => proxy.stop())
  return { url: proxy.rpcUrl, calls, proxy }
}

interface ReceivedCall {
  method: string
  params: unknown[]
  resolve(): void
}

/** A node that changes another node's answers. */
async function startChangingNode(
  change: (call: ReceivedCall, truth: unknown) => unknown,
): Promise<{ url: string; calls: string[] }> {
  const calls: string[] = []
  const url = await serveInTest(async (request, response) => {
    const body = await bodyOf(request)
    const call = JSON.parse(body) as ReceivedCall & { id: number }
    const headers = { 'content-type': 'application/json' }
    const { result } = (await (
      await fetch(anvil.rpcUrl, { method: 'POST', headers, body })
    ).json()) as {
      result: unknown
    }
    const changed = await change(call, result)
    calls.push(call.method)
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: changed }))
  })
  return { url, calls }
}

const poolOf = (...nodes: { url: string }[]): EvmRpc =>
  createEvmRpc({ label: '1', urls: nodes.map(({ url }) => url), chainId: CHAIN_ID })
const gasPrice = (rpc: EvmRpc) => rpc.call<string>('eth_gasPrice', [])
const gasPriceCallCount = ({ calls }: { calls: string[] }) =>
  calls.filter((method) => method === 'eth_gasPrice').length

/** A pool with one node that asks to wait until it is released. */
async function busyNode() {
  let isBusy = true
  const only = await startNode((method) =>
    isBusy && method === 'eth_gasPrice' ? 'rate_limit' : null,
  )
  const free = () => {
    isBusy = false
  }
  return { only, rpc: poolOf(only), free }
}

describe('a node that asks to wait', () => {
  it('is not asked until then, though it is the only one', async () => {
    const { only, rpc, free } = await busyNode()
    await expect(gasPrice(rpc)).rejects.toThrow('no RPC URL answers')
    free()
    const started = performance.now()
    await expect(gasPrice(rpc)).rejects.toThrow('asked to wait')
    expect(gasPriceCallCount(only)).toBe(1)
    expect(
      await waitForCondition(async () => gasPrice(rpc).then(Boolean, () => false), 5_000, 50),
    ).toBe(true)
    expect(performance.now() - started).toBeGreaterThan(WAIT_S * 1_000 - 100)
  })

  it('is passed over for another', async () => {
    const busy = await startNode((method) => (method === 'eth_gasPrice' ? 'rate_limit' : null))
    const other = await startNode()
    const rpc = poolOf(busy, other)
    for (let i = 0; i < 3; i++) await gasPrice(rpc)
    expect([gasPriceCallCount(busy), gasPriceCallCount(other)]).toEqual([1, 3])
  })

  it('is not asked for half a minute at most, however long it asks for', () => {
    const busy = new RpcNode('http://127.0.0.1/', () => Promise.reject())
    busy.rest(new RpcError('rate_limited', 'wait', 300_000), 0)
    expect([29_999, 30_000].map(busy.isMuted)).toEqual([true, false])
  })
})

it('an answer without a result makes the pool ask another node', async () => {
  const empty = await startChangingNode(({ method }, truth) =>
    method === 'eth_gasPrice' ? undefined : truth,
  )
  expect(await gasPrice(poolOf(empty, await startNode()))).toMatch(/^0x/)
})

describe('a node that is behind', () => {
  it('is passed over once the heads have been compared', async () => {
    const test = async (method: string, params: unknown[]) =>
      fetch(anvil.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
    await test('anvil_mine', ['0x20', '0x2'])
    const late = await startNode((method) =>
      method === 'eth_getBlockByNumber' ? 'stale_head' : null,
    )
    const other = await startNode()
    // the lag is random per call: compare until it exceeds the limit
    for (let tries = 0; tries < 20; tries++) {
      const rpc = poolOf(late, other)
      await gasPrice(rpc)
      await rpc.checkHeads()
      const before = gasPriceCallCount(late)
      await gasPrice(rpc)
      if (gasPriceCallCount(late) === before) return
    }
    throw new Error('a node that is behind is asked first')
  })
})

/** A node that reports a made-up head. */
const startLiar = (height: string) =>
  startChangingNode(({ method, params }, truth) =>
    method === 'eth_getBlockByNumber' && params[0] === 'latest'
      ? { ...(truth as object), number: height }
      : truth,
  )

describe('a made-up head', () => {
  it.each(['0xffffffffff', 'garbage'])('of %s makes no honest node look behind', async (height) => {
    const honest = [await startNode(), await startNode()]
    const rpc = poolOf(await startLiar(height), ...honest)
    await gasPrice(rpc)
    await rpc.checkHeads()
    expect(rpc.health()[0]!.nodes.map(({ head }) => head)).toEqual(['doubtful', 'good', 'good'])
    await gasPrice(rpc)
    expect(honest.map(gasPriceCallCount)).toEqual([1, 0])
  })
})

describe('a node that hangs', () => {
  it('is waited for until the call’s time limit, and is found again by one call in the background', async () => {
    let hangs = true
    const held: ReceivedCall[] = []
    const first = await startChangingNode(async (call, truth) => {
      if (hangs) await new Promise<void>((resolve) => void held.push({ ...call, resolve }))
      return truth
    })
    const other = await startNode()
    const rpc = poolOf(first, other)
    // after its timeout the node rests, and every later call goes to the other node
    await Promise.all(Array.from({ length: 20 }, () => gasPrice(rpc)))
    expect(rpc.health()[0]!.nodes[0]!.errors).toBeGreaterThan(0)
    const before = held.length
    for (let i = 0; i < 10; i++) await gasPrice(rpc)
    expect(held.length - before).toBeLessThanOrEqual(1)
    hangs = false
    for (const { resolve } of held) resolve()
    const isBack = async () => {
      await gasPrice(rpc)
      return rpc.health()[0]!.nodes[0]!.restMs === 0 && first.calls.at(-1) === 'eth_gasPrice'
    }
    expect(await waitForCondition(isBack, 10_000, 50)).toBe(true)
  }, 30_000)
})

it('reports a node that the chain refutes, and asks it after the others, though it answers', async () => {
  const liar = await startNode()
  const rpc = poolOf(liar, await startNode())
  // once both nodes are checked, calls go to them in their order
  await rpc.onEveryNode((call) => call('eth_chainId', []))
  let refuted = 1
  await rpc.onEveryNode(async () => {
    if (refuted-- > 0) throw new RefutedAnswerError('the logs do not make the record')
  })
  expect(rpc.health()[0]!.nodes.map(({ isWrong }) => isWrong)).toEqual([true, false])
  await waitForCondition(async () => rpc.health()[0]!.nodes[0]!.restMs === 0, 10_000, 50)
  await rpc.onEveryNode((call) => call('eth_chainId', []))
  await gasPrice(rpc)
  expect(liar.calls).not.toContain('eth_gasPrice')
})

it('waits no longer for a node than it asked for, even if the system clock changes', async () => {
  const { rpc, free } = await busyNode()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 3_600_000 })
  try {
    await expect(gasPrice(rpc)).rejects.toThrow('no RPC URL answers')
  } finally {
    // like a time server that corrects a host whose clock was ahead
    vi.useRealTimers()
  }
  free()
  const answers = () => gasPrice(rpc).then(Boolean, () => false)
  expect(await waitForCondition(answers, 1_000 * WAIT_S + 4_000, 50)).toBe(true)
})

describe('uses of the same nodes', () => {
  it('rest separately: a 429 for the API does not stop the indexer', async () => {
    const { rpc, free } = await busyNode()
    await expect(gasPrice(rpc.forUse('api'))).rejects.toThrow('no RPC URL answers')
    free()
    await expect(gasPrice(rpc.forUse('api'))).rejects.toThrow('asked to wait')
    expect(await gasPrice(rpc)).toMatch(/^0x/)
    expect(await gasPrice(rpc.forUse('relay'))).toMatch(/^0x/)
  })

  it('have shares: calls above the API’s share are refused and do not delay the others', async () => {
    const slow = await startChangingNode(async (_, truth) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return truth
    })
    const rpc = poolOf(slow)
    const flood = await Promise.allSettled(
      Array.from({ length: 2_000 }, () => gasPrice(rpc.forUse('api'))),
    )
    const refused = flood.filter(({ status }) => status === 'rejected')
    // a call that was started may have timed out on a busy machine
    const reasons = refused.map((one) => (one as PromiseRejectedResult).reason)
    const busy = reasons.filter((reason) => reason instanceof ChainBusyError)
    expect(busy.length).toBeGreaterThan(1_000)
    expect(await gasPrice(rpc)).toMatch(/^0x/)
  }, 20_000)
})

it('a node whose answer is no number is passed over', async () => {
  const odd = await startChangingNode(({ method }, truth) =>
    method === 'eth_gasPrice' ? 'garbage' : truth,
  )
  const priceOf = async (call: <T>(method: string, params: readonly unknown[]) => Promise<T>) =>
    BigInt(await call<string>('eth_gasPrice', []))
  expect(await poolOf(odd, await startNode()).onOneNode(priceOf)).toBeGreaterThan(0n)
})
