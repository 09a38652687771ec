import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { bodyOf, serveInTest } from '../../../test/support/httpServer.js'
import { createSolanaRpc, createSolanaRpcCaller } from './solana.js'

interface Question {
  id: number
  method: string
  params: unknown[]
}

/** A server that answers on demand and counts the calls. */
async function node(answer: (body: Question, response: ServerResponse) => unknown) {
  let asked = 0
  const url = await serveInTest(async (request, response) => {
    const body: Question = JSON.parse(await bodyOf(request))
    asked += 1
    response.setHeader('content-type', 'application/json')
    const reply = answer(body, response)
    response.end(JSON.stringify(reply))
  })
  return { url, asked: () => asked }
}

const echo = ({ id, params }: Question) => ({ jsonrpc: '2.0', id, result: params[0] })

describe('a call', () => {
  it.each([
    ['sendTransaction', -32_002, 'Transaction simulation failed: error 0x1770', 'refused'],
    ['sendTransaction', -32_003, 'Transaction signature verification failure', 'refused'],
    ['sendTransaction', -32_602, 'Invalid params: invalid type', 'refused'],
    ['simulateTransaction', -32_602, 'Invalid params: invalid type', 'refused'],
    // only a method that takes a transaction is refused
    ['getBalance', -32_002, 'Transaction simulation failed: error 0x1770', 'transient'],
    ['getTransaction', -32_015, 'Transaction version (1) is not supported', 'transient'],
    ['getTransaction', -32_602, 'Invalid params: rate limit exceeded', 'transient'],
    ['getEpochInfo', 3, 'execution reverted', 'transient'],
    ['getTransaction', -32_005, 'Node is unhealthy, exceeds the maximum lag', 'transient'],
    ['getTransaction', -32_009, 'Slot 7 was skipped, or missing in storage', 'transient'],
    ['getTransaction', -32_011, 'History is not available; method not supported', 'transient'],
    ['getTransaction', -32_016, 'Minimum context slot has not been reached', 'transient'],
    ['getTransaction', -32_099, 'query returned more than 10000 results', 'too_much'],
  ])('%s that a node refuses under number %i: %s', async (method, code, message, fault) => {
    const { url } = await node((body) => ({
      jsonrpc: '2.0',
      id: body.id,
      error: { code, message },
    }))
    const failed = createSolanaRpcCaller(url, 5_000)(method, [])
    await expect(failed).rejects.toMatchObject({
      fault,
      message: `${method}: ${message}`,
      cause: { code },
    })
  })

  it.each([
    ['no JSON-RPC error', 'slow down'],
    ['429', { code: 429, message: 'Too many requests for a specific RPC call' }],
    ['-32429', { code: -32_429, message: 'rate limited' }],
    ['-32005', { code: -32_005, message: 'Rate limit exceeded. Please retry after 1 second.' }],
    ['-32007', { code: -32_007, message: '50/second request limit reached' }],
    ['-32602', { code: -32_602, message: 'Invalid params' }],
  ])('waits where the status asks for it, with %s in the body', async (_, error) => {
    const { url } = await node((body, response) => {
      response.statusCode = 429
      response.setHeader('retry-after', '7')
      return { jsonrpc: '2.0', id: body.id, error }
    })
    const asked = createSolanaRpcCaller(url, 5_000)('echo', [1])
    await expect(asked).rejects.toMatchObject({ fault: 'rate_limited', retryAfterMs: 7_000 })
  })
})

it('a hanging node is detected within seconds, however many long calls wait for it', async () => {
  const url = await serveInTest(() => {})
  const call = createSolanaRpcCaller(url, 20_000)
  for (let i = 0; i < 100; i++) call('getTransaction', []).catch(() => {})
  const startedMs = performance.now()
  await expect(call('getSlot', [])).rejects.toThrow('timed out: no answer within 3000 ms')
  expect(performance.now() - startedMs).toBeLessThan(10_000)
})

describe('nodes', () => {
  it('are not asked during the pause that they named', async () => {
    const limited = await node((question, response) => {
      if (question.method === 'getGenesisHash') return { id: question.id, result: 'ours' }
      response.statusCode = 429
      response.setHeader('retry-after', '5')
      return { id: question.id, error: { code: -32_005, message: 'limit' } }
    })
    const rpc = createSolanaRpc({ rpcUrls: [limited.url] })
    for (let n = 0; n < 20; n++)
      await expect(rpc.call('getSlot', [])).rejects.toThrow(/no RPC URL answers/)
    // the calls for the genesis, and the first call
    expect(limited.asked()).toBe(2)
  })

  const cluster = (genesis: string) =>
    node((question) => ({
      ...echo(question),
      ...(question.method === 'getGenesisHash' && { result: genesis }),
    }))

  it('of another cluster are skipped, and refused when there is no other', async () => {
    const ours = await cluster('ours')
    const other = await cluster('other')
    const both = createSolanaRpc({
      rpcUrls: [other.url, ours.url],
      genesisHash: 'ours',
    })
    expect(await both.call('echo', [5])).toBe(5)
    expect(other.asked()).toBe(1)
    const alone = createSolanaRpc({ rpcUrls: [other.url], genesisHash: 'ours' })
    await expect(alone.genesisHash()).rejects.toThrow(/genesis other, not ours/)
    expect(await createSolanaRpc({ rpcUrls: [other.url] }).genesisHash()).toBe('other')
  })
})
