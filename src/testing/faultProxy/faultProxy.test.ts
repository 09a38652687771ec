import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { useWorld } from '../../../test/support/useWorld.js'
import { startAnvil } from '../chains/anvil.js'
import { waitForCondition } from '../processes/processes.js'
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from './faultProxy.js'
import { FAULT_KINDS, type FaultKind } from './kinds.js'
import { RANGE_LIMIT_ERRORS } from './nodeErrorTexts.js'

const EMITTER = '0x00000000000000000000000000000000000e3171'
/** Emits a log without topics, of 32 zero bytes: PUSH1 32, PUSH1 0, LOG0. */
const EMITTER_CODE = '0x60206000a0'

const anvil = useWorld(() => startAnvil({ chainId: 31_337 }))
let proxy: FaultProxy

beforeAll(async () => {
  await callNode('anvil_setCode', [EMITTER, EMITTER_CODE])
  const [from] = (await callNode('eth_accounts')) as string[]
  for (let i = 0; i < 12; i++) {
    await emit(from!)
    if (i % 4 === 0) await callNode('anvil_mine', ['0x2'])
  }
})
afterEach(() => proxy?.stop())

async function startProxy(
  options: Omit<FaultProxyOptions, 'target' | 'seed'> & { seed?: number },
): Promise<FaultProxy> {
  proxy = await startFaultProxy({ seed: 1, target: anvil, ...options })
  return proxy
}

interface HttpAnswer {
  status: number
  headers: Headers
  text: string
  body: {
    id?: unknown
    result?: unknown
    error?: { code: number; message: string; data?: unknown }
  }
}

async function postJson(url: string, body: unknown): Promise<HttpAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  let parsed: HttpAnswer['body'] = {}
  try {
    parsed = JSON.parse(text) as HttpAnswer['body']
  } catch {}
  return { status: response.status, headers: response.headers, text, body: parsed }
}

const callProxy = (method: string, params: unknown[] = []) =>
  postJson(proxy.rpcUrl, { jsonrpc: '2.0', id: 7, method, params })

async function callNode(method: string, params: unknown[] = []): Promise<unknown> {
  return (await postJson(anvil.rpcUrl, { jsonrpc: '2.0', id: 7, method, params })).body.result
}

/** Sends a transaction that emits a log, and waits until it is mined. */
async function emit(from: string): Promise<void> {
  const hash = await callNode('eth_sendTransaction', [{ from, to: EMITTER }])
  const isMined = async () => (await callNode('eth_getTransactionReceipt', [hash])) !== null
  if (!(await waitForCondition(isMined, 10_000))) throw new Error(`${hash} is not mined`)
}

interface RpcLog {
  blockNumber: string
  blockHash: string
  logIndex: string
  data: string
}
interface Block {
  number: string
}

const ALL_LOGS_FILTER = [{ fromBlock: '0x0', toBlock: 'latest', address: EMITTER }]
const alwaysFault = (kind: FaultKind) => ({ faults: { [kind]: 1 } })
const readAllLogs = async () => (await callNode('eth_getLogs', ALL_LOGS_FILTER)) as RpcLog[]

describe('without faults', () => {
  it('passes calls and batches on', async () => {
    await startProxy({})
    const head = await callNode('eth_blockNumber')
    expect(await callProxy('eth_blockNumber')).toMatchObject({
      status: 200,
      body: { jsonrpc: '2.0', id: 7, result: head },
    })
    expect((await callProxy('eth_nonsense')).body.error?.code).toBe(-32601)
    const { body } = await postJson(proxy.rpcUrl, [
      { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
      { jsonrpc: '2.0', id: 2, method: 'eth_blockNumber', params: [] },
    ])
    expect(body).toEqual([
      { jsonrpc: '2.0', id: 1, result: '0x7a69' },
      { jsonrpc: '2.0', id: 2, result: head },
    ])
    expect(Object.entries(proxy.counts()).filter(([, count]) => count !== 0)).toEqual([])
  })
})

describe('faults of whole requests', () => {
  it('delay: the right answer, late', async () => {
    await startProxy({ ...alwaysFault('delay'), limits: { delayMs: 300 } })
    const started = performance.now()
    for (let i = 0; i < 5; i++) expect((await callProxy('eth_chainId')).body.result).toBe('0x7a69')
    expect(performance.now() - started).toBeGreaterThan(150)
    expect(proxy.counts().delay).toBe(5)
  })

  it('drop: the connection is reset; half of the calls still reach the node', async () => {
    await startProxy(alwaysFault('drop'))
    const mined = Number(await callNode('eth_blockNumber'))
    for (let i = 0; i < 20; i++) await expect(callProxy('evm_mine')).rejects.toThrow('fetch failed')
    const arrived = Number(await callNode('eth_blockNumber')) - mined
    expect(arrived).toBeGreaterThan(3)
    expect(arrived).toBeLessThan(17)
  })

  it('rate_limit: 429 with Retry-After', async () => {
    await startProxy({ ...alwaysFault('rate_limit'), limits: { retryAfterS: 3 } })
    const { status, headers } = await callProxy('eth_chainId')
    expect(status).toBe(429)
    expect(headers.get('retry-after')).toBe('3')
  })

  it('server_error: 5xx', async () => {
    await startProxy(alwaysFault('server_error'))
    const seen = new Set<number>()
    for (let i = 0; i < 20; i++) seen.add((await callProxy('eth_chainId')).status)
    expect([...seen].sort()).toEqual([500, 502, 503, 504])
  })

  it('truncate: JSON that ends too early', async () => {
    await startProxy(alwaysFault('truncate'))
    const { status, text } = await callProxy('eth_getBlockByNumber', ['latest', false])
    expect(status).toBe(200)
    expect(text.length).toBeGreaterThan(0)
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
  })

  it('wrong_id: the answer to an earlier call of the method', async () => {
    await startProxy(alwaysFault('wrong_id'))
    await postJson(proxy.rpcUrl, { id: 1, method: 'eth_getBlockByNumber', params: ['0x1', false] })
    const { body } = await postJson(proxy.rpcUrl, {
      id: 2,
      method: 'eth_getBlockByNumber',
      params: ['0x2', false],
    })
    expect(body.id).toBe(1)
    expect(body.result).toMatchObject({ number: '0x1' })
    const batch = (await postJson(proxy.rpcUrl, [
      { id: 1, method: 'eth_chainId' },
      { id: 2, method: 'eth_chainId' },
    ])) as unknown as { body: { id: number }[] }
    expect(batch.body.map(({ id }) => id)).toEqual([2, 1])
  })
})

describe('faults of answers', () => {
  it('stale_head: heads, and state as of the head, are some blocks old', async () => {
    await startProxy({ ...alwaysFault('stale_head'), limits: { staleBlocks: 3 } })
    const head = Number(await callNode('eth_blockNumber'))
    expect(Number((await callProxy('eth_blockNumber')).body.result)).toBeLessThan(head)
    const block = (await callProxy('eth_getBlockByNumber', ['latest', false])).body.result as Block
    expect(Number(block.number)).toBeLessThan(head)
    expect(await callNode('eth_getBlockByNumber', [block.number, false])).toEqual(block)
    await callNode('anvil_mine', ['0x1'])
    const [from] = (await callNode('eth_accounts')) as string[]
    await emit(from!)
    const nonce = Number(await callNode('eth_getTransactionCount', [from, 'latest']))
    expect(Number((await callProxy('eth_getTransactionCount', [from, 'latest'])).body.result)).toBe(
      nonce - 1,
    )
  })

  it('missing_logs: all logs of one block are absent', async () => {
    await startProxy(alwaysFault('missing_logs'))
    const all = await readAllLogs()
    const got = (await callProxy('eth_getLogs', ALL_LOGS_FILTER)).body.result as RpcLog[]
    const blocks = (logs: RpcLog[]) => new Set(logs.map(({ blockNumber }) => blockNumber))
    expect(blocks(got).size).toBe(blocks(all).size - 1)
    expect(
      (await callProxy('eth_getLogs', [{ address: EMITTER, blockHash: all[0]!.blockHash }])).body
        .result,
    ).toEqual([])
  })

  it('null_block, null_receipt: null for what exists', async () => {
    await startProxy({ faults: { null_block: 1, null_receipt: 1 } })
    expect((await callProxy('eth_getBlockByNumber', ['latest', false])).body.result).toBeNull()
    expect((await callProxy('eth_getBlockReceipts', ['latest'])).body.result).toBeNull()
  })

  it('duplicate_logs, reorder_logs', async () => {
    const all = await readAllLogs()
    const key = ({ blockNumber, logIndex }: RpcLog) => `${blockNumber}/${logIndex}`
    await startProxy(alwaysFault('duplicate_logs'))
    const twice = (await callProxy('eth_getLogs', ALL_LOGS_FILTER)).body.result as RpcLog[]
    expect(twice.length).toBeGreaterThan(all.length)
    expect(new Set(twice.map(key))).toEqual(new Set(all.map(key)))
    proxy.set({ reorder_logs: 1 })
    const mixed = (await callProxy('eth_getLogs', ALL_LOGS_FILTER)).body.result as RpcLog[]
    expect(mixed.map(key)).not.toEqual(all.map(key))
    expect(mixed.map(key).sort()).toEqual(all.map(key).sort())
  })

  it('range_limit: ranges wider than the limit, in every wording', async () => {
    await startProxy({ ...alwaysFault('range_limit'), limits: { rangeBlocks: 2 } })
    const said = new Set<string>()
    for (let i = 0; i < 300; i++) {
      const { error } = (await callProxy('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x3' }]))
        .body
      said.add(`${error?.code}${error?.message}${JSON.stringify(error?.data)}`)
    }
    expect(said.size).toBe(RANGE_LIMIT_ERRORS.length)
    expect(
      (await callProxy('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }])).body.error,
    ).toBeUndefined()
  })
})

describe('a socket', () => {
  it('subscribes, asks, and falls silent', async () => {
    await startProxy({})
    const socket = new WebSocket(proxy.wsUrl)
    const messages: { id?: number; method?: string; result?: unknown }[] = []
    socket.on('message', (data) => messages.push(JSON.parse(String(data))))
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }),
    )
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'eth_chainId', params: [] }))
    expect(await waitForCondition(() => messages.length === 2, 5_000)).toBe(true)
    expect(messages.find(({ id }) => id === 2)?.result).toBe('0x7a69')
    await callNode('anvil_mine', ['0x1'])
    expect(
      await waitForCondition(
        () => messages.some(({ method }) => method === 'eth_subscription'),
        5_000,
      ),
    ).toBe(true)
    const heard = messages.length
    proxy.set({ silent_socket: 1 })
    await callNode('anvil_mine', ['0x1'])
    expect(await waitForCondition(() => proxy.counts().silent_socket === 1, 5_000)).toBe(true)
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'eth_chainId', params: [] }))
    await callNode('anvil_mine', ['0x1'])
    expect(await waitForCondition(() => messages.length > heard, 300)).toBe(false)
    expect(socket.readyState).toBe(WebSocket.OPEN)
    socket.terminate()
  })
})

describe('a cut', () => {
  it('resets every connection until it is restored', async () => {
    await startProxy({})
    const socket = new WebSocket(proxy.wsUrl)
    await new Promise((resolve) => socket.once('open', resolve))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    proxy.cut()
    await closed
    await expect(callProxy('eth_chainId')).rejects.toThrow('fetch failed')
    proxy.restore()
    expect((await callProxy('eth_chainId')).body.result).toBe('0x7a69')
  })
})

describe('seeds', () => {
  const everything = Object.fromEntries(
    FAULT_KINDS.map((kind) => [kind, kind === 'hang' ? 0 : 0.2]),
  )

  /** Sends 80 equal requests. @returns the numbers, from 0, of those without the node's answer */
  async function faultyRequestsOf(seed: number): Promise<number[]> {
    const wrong: number[] = []
    await startProxy({ seed, faults: everything, limits: { delayMs: 5 } })
    const outcomeOf = async () =>
      JSON.stringify((await callProxy('eth_getLogs', ALL_LOGS_FILTER)).body)
    const right = JSON.stringify({ jsonrpc: '2.0', id: 7, result: await readAllLogs() })
    for (let i = 0; i < 80; i++)
      if ((await outcomeOf().catch(() => 'no answer')) !== right) wrong.push(i)
    await proxy.stop()
    return wrong
  }

  it('the same seed gives the same faults, another one others', async () => {
    const first = await faultyRequestsOf(42)
    expect(first.length).toBeGreaterThan(20)
    expect(await faultyRequestsOf(42)).toEqual(first)
    expect(await faultyRequestsOf(43)).not.toEqual(first)
  })

  it('a plan chooses the fault of each call', async () => {
    await startProxy({
      faults: ({ method, ordinal }) =>
        method === 'eth_chainId' && ordinal === 2 ? 'server_error' : null,
    })
    expect((await callProxy('eth_chainId')).status).toBe(200)
    expect((await callProxy('eth_chainId')).status).toBeGreaterThanOrEqual(500)
    expect((await callProxy('eth_chainId')).status).toBe(200)
  })
})
