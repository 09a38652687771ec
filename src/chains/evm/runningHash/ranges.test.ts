import { expect, it } from 'vitest'
import { bodyOf, serveInTest } from '../../../../test/support/httpServer.js'
import { createEvmRpc } from '../../rpc/evm.js'
import type { RpcCall } from '../../rpc/nodes.js'
import { readBlocksInRanges } from './ranges.js'
import { createLogRangeWidth } from './width.js'

const CHAIN_ID = 31_337
const WIDE_BLOCKS = 1_024

/** A range that a node returned; it has no logs. */
interface ReturnedRange {
  from: number
  to: number
}

/** Source of ranges from one node that refuses some ranges. */
async function sourceOf(refuse: (blocks: number) => object | null) {
  const url = await serveInTest(async (request, response) => {
    const { id, method, params } = JSON.parse(await bodyOf(request)) as {
      id: number
      method: string
      params: [{ fromBlock: string; toBlock: string }]
    }
    const error =
      method === 'eth_getLogs'
        ? refuse(Number(params[0].toBlock) - Number(params[0].fromBlock) + 1)
        : null
    const results: Record<string, unknown> = {
      eth_chainId: `0x${CHAIN_ID.toString(16)}`,
      eth_getBlockByNumber: { hash: '0xab' },
      eth_getLogs: [],
    }
    response.end(JSON.stringify({ id, ...(error ? { error } : { result: results[method] }) }))
  })
  return {
    rpc: createEvmRpc({ label: '1', urls: [url], chainId: CHAIN_ID }),
    width: createLogRangeWidth(WIDE_BLOCKS),
    sizeOf: () => 0,
    async read(call: RpcCall, from: number, to: number): Promise<ReturnedRange> {
      const [fromBlock, toBlock] = [from, to].map((block) => `0x${block.toString(16)}`)
      await call('eth_getLogs', [{ fromBlock, toBlock }])
      return { from, to }
    },
  }
}

it.each([
  [-32_005, 'limit exceeded'],
  [-32_000, 'requests limited to 20 per second'],
  [-32_005, 'daily request count exceeded, request rate limited'],
  [429, 'compute units per second exceeded'],
])('a rate limit does not halve a range: %i, "%s"', async (code, message) => {
  const source = await sourceOf(() => ({ code, message }))
  for (let n = 0; n < 3; n++)
    await expect(readBlocksInRanges<ReturnedRange>(source, 1, WIDE_BLOCKS)).rejects.toThrow(
      /no RPC URL answers/,
    )
  expect(source.width.blocks).toBe(WIDE_BLOCKS)
})

it.each([
  [-32_602, 'Maximum allowed number of requested blocks is 900'],
  [-32_602, 'please limit the query to at most 900 blocks'],
  [-32_000, 'query must be smaller than size 900'],
  [-32_000, 'maximum [from, to] blocks distance: 900'],
])('a refusal of a range halves it: %i, "%s"', async (code, message) => {
  const source = await sourceOf((blocks) => (blocks > 900 ? { code, message } : null))
  const ranges = await readBlocksInRanges<ReturnedRange>(source, 1, WIDE_BLOCKS)
  expect(ranges.map(({ answer: { from, to } }) => [from, to])).toEqual([
    [1, WIDE_BLOCKS / 2],
    [WIDE_BLOCKS / 2 + 1, WIDE_BLOCKS],
  ])
})

it('a refusal with an unknown message halves the range, and permanently where the smaller one works', async () => {
  const source = await sourceOf((blocks) =>
    blocks > 300 ? { code: -32_000, message: 'computer says no' } : null,
  )
  const failed: number[] = []
  for (let from = 1; from <= 10_000; ) {
    const to = from + source.width.blocks - 1
    const ranges = await readBlocksInRanges<ReturnedRange>(source, from, to).catch(() => null)
    if (ranges) from = to + 1
    else failed.push(to - from + 1)
  }
  // the refused width is found, then tried again after 4 and after 32 good answers
  expect(failed).toEqual([1_024, 512, 512, 512])
})
