import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { batching, createSolanaRpc } from './solana.js'

interface Question {
  id: number
  method: string
  params: unknown[]
}
type Body = Question | Question[]

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** A server that answers on demand and records the number of calls per request. */
async function node(
  answer: (body: Body, response: ServerResponse) => unknown,
): Promise<{ url: string; sizes: number[] }> {
  const sizes: number[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const body: Body = JSON.parse(Buffer.concat(parts).toString())
      sizes.push(Array.isArray(body) ? body.length : 1)
      response.setHeader('content-type', 'application/json')
      const reply = answer(body, response)
      response.end(JSON.stringify(reply))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(
    () => server.closeAllConnections(),
    () => server.close(),
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sizes }
}

const echo = ({ id, params }: Question) => ({ jsonrpc: '2.0', id, result: params[0] })
const echoAll = (body: Body) => (Array.isArray(body) ? body.map(echo).reverse() : echo(body))
const ask = (call: ReturnType<typeof batching>, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => call<number>('echo', [i])))
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

describe('calls of one moment', () => {
  it('travel together, each gets its own answer whatever their order', async () => {
    const { url, sizes } = await node(echoAll)
    const call = batching(url, 5_000)
    expect(await ask(call, 250)).toEqual(numbers(250))
    expect(await ask(call, 1)).toEqual([0])
    expect(sizes).toEqual([100, 100, 50, 1])
  })

  it('are sent one by one to a node that takes no batches, which is tried once', async () => {
    const { url, sizes } = await node((body) =>
      Array.isArray(body)
        ? { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Only method calls are supported' } }
        : echo(body),
    )
    const call = batching(url, 5_000)
    expect(await ask(call, 30)).toEqual(numbers(30))
    expect(await ask(call, 5)).toEqual(numbers(5))
    expect(sizes.filter((size) => size > 1)).toEqual([30])
    expect(sizes).toHaveLength(36)
  })

  it('are halved until the node takes them', async () => {
    const { url, sizes } = await node((body, response) => {
      if (!Array.isArray(body) || body.length <= 30) return echoAll(body)
      response.statusCode = 413
      return { error: 'body too large' }
    })
    expect(await ask(batching(url, 5_000), 100)).toEqual(numbers(100))
    expect(sizes).toEqual([100, 50, 50, 25, 25, 25, 25])
  })

  it('fail alone, and are sorted by what to do', async () => {
    const { url } = await node((body) =>
      (body as Question[]).map((one) => {
        if (one.params[0] === 1) return { jsonrpc: '2.0', id: one.id, error: { code: -32_004, message: 'not yet' } }
        if (one.params[0] === 2) return { ...echo(one), id: one.id + 1_000 }
        if (one.params[0] === 4) return { jsonrpc: '2.0', id: one.id }
        return echo(one)
      }),
    )
    const call = batching(url, 5_000)
    const answers = await Promise.allSettled(numbers(5).map((i) => call<number>('echo', [i])))
    expect(answers.map(({ status }) => status === 'fulfilled')).toEqual([true, false, false, true, false])
    expect(answers[1]).toMatchObject({ reason: { fault: 'transient', message: 'echo: not yet' } })
    for (const answer of [answers[2], answers[4]]) expect(answer).toMatchObject({ reason: { fault: 'transient' } })
  })

  it.each([
    [-32_002, 'Transaction simulation failed: custom program error: 0x1770', 'refused'],
    [-32_015, 'Transaction version (1) is not supported by the requesting client', 'refused'],
    [-32_602, 'Invalid params: invalid type', 'refused'],
    [-32_005, 'Node is unhealthy, exceeds the maximum lag', 'transient'],
    [-32_009, 'Slot 7 was skipped, or missing in long-term storage', 'transient'],
    [-32_011, 'Transaction history is not available from this node; method not supported', 'transient'],
    [-32_016, 'Minimum context slot has not been reached', 'transient'],
    [-32_099, 'query returned more than 10000 results', 'too_much'],
  ])('that a node refuses under number %i: %s', async (code, message, fault) => {
    const { url } = await node((body) => ({ jsonrpc: '2.0', id: (body as Question).id, error: { code, message } }))
    const failed = batching(url, 5_000)('getTransaction', [])
    await expect(failed).rejects.toMatchObject({ fault, message: `getTransaction: ${message}`, cause: { code } })
  })

  it('wait where the node asks for it', async () => {
    const { url } = await node((_, response) => {
      response.statusCode = 429
      response.setHeader('retry-after', '7')
      return { error: 'slow down' }
    })
    const answers = await Promise.allSettled(numbers(2).map((i) => batching(url, 5_000)('echo', [i])))
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 'rejected', reason: { fault: 'rate_limited', retryAfterMs: 7_000 } })
  })
})

describe('nodes', () => {
  const cluster = (genesis: string) =>
    node((body) => {
      const one = (question: Question) => ({
        ...echo(question),
        ...(question.method === 'getGenesisHash' ? { result: genesis } : {}),
      })
      return Array.isArray(body) ? body.map(one) : one(body)
    })

  it('of another cluster are passed over, and refused when there is no other', async () => {
    const [ours, other] = [await cluster('ours'), await cluster('other')]
    const both = createSolanaRpc({ label: 'solana', urls: [other.url, ours.url], genesisHash: 'ours' })
    expect(await both.call('echo', [5])).toBe(5)
    expect(other.sizes).toHaveLength(1)
    const alone = createSolanaRpc({ label: 'solana', urls: [other.url], genesisHash: 'ours' })
    await expect(alone.genesisHash()).rejects.toThrow(/genesis other, not ours/)
    expect(await createSolanaRpc({ label: 'solana', urls: [other.url] }).genesisHash()).toBe('other')
  })
})
