import { expect, it } from 'vitest'
import { ChainUnavailableError, type Hex } from '../chain.js'
import { classifyRpcError, NodeError, RefusedByNodesError, RpcError } from '../rpc/errors.js'
import type { EvmRpc, RpcCall } from '../rpc/evm.js'
import { RpcPool } from '../rpc/nodes.js'
import { broadcastTransaction } from './signer.js'

/** A node's answers to the transaction, and to the question for its hash: an error, or a result. */
interface Script {
  sends?: unknown
  finds?: unknown
}

const said = (message: string, code = -32_000): RpcError =>
  classifyRpcError(new NodeError({ code, message }), 'eth_sendRawTransaction')
const FLOOR = said('transaction underpriced')
const LIMITED = said('too many requests')
const SILENT = classifyRpcError(new Error('timeout'), 'eth_getTransactionByHash')

function nodesOf(...scripts: Script[]): EvmRpc {
  return new RpcPool<Hex>({
    label: '1',
    urls: scripts.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    readGenesis: async () => '0x00',
    connect: (url): RpcCall => {
      const { sends = '0x', finds = null } = scripts[Number(url.at(-1))]!
      return async <T>(method: string) => {
        const answers: Record<string, unknown> = {
          eth_blockNumber: '0x7',
          eth_sendRawTransaction: sends,
          eth_getTransactionByHash: finds,
        }
        const answer = answers[method]
        if (answer instanceof Error) throw answer
        return answer as T
      }
    },
    headOf: async () => ({ height: 10, timeMs: null }),
  })
}

/** What became of a transaction: the head, `refused`, or `unknown`. */
async function outcomeOf(...scripts: Script[]): Promise<unknown> {
  try {
    return await broadcastTransaction(nodesOf(...scripts), '0x02')
  } catch (error) {
    if (error instanceof RefusedByNodesError) return 'refused'
    expect(error instanceof ChainUnavailableError || error instanceof RpcError).toBe(true)
    return 'unknown'
  }
}

it.each<[string, unknown, Script[]]>([
  ['taken by a node', 7, [{ sends: FLOOR }, {}]],
  ['refused by the only node', 'refused', [{ sends: FLOOR }]],
  ['refused by two nodes', 'refused', [{ sends: FLOOR }, { sends: FLOOR }]],
  ['refused by two of three', 'refused', [{ sends: LIMITED }, { sends: FLOOR }, { sends: FLOOR }]],
  ['unknown where only one of two refuses it', 'unknown', [{ sends: FLOOR }, { sends: SILENT }]],
  ['unknown beside a rate limit', 'unknown', [{ sends: LIMITED }, { sends: FLOOR }]],
  [
    'unknown where the node is not asked for its hash',
    'unknown',
    [{ sends: FLOOR, finds: SILENT }],
  ],
  [
    'unknown where a revert is claimed and the hash not reported',
    'unknown',
    [{ sends: said('execution reverted', 3), finds: SILENT }],
  ],
  [
    'unknown where the node has another hash',
    'unknown',
    [{ sends: FLOOR, finds: { hash: '0x1' } }],
  ],
  ['unknown at a rate limit', 'unknown', [{ sends: LIMITED }]],
  ['unknown where a method is missing', 'unknown', [{ sends: said('no such method', -32_601) }]],
  ['unknown at an internal error', 'unknown', [{ sends: said('Internal error', -32_603) }]],
  ['unknown at a timeout', 'unknown', [{ sends: said('request timed out', -32_002) }]],
])('a transaction is %s', async (_, outcome, scripts) => {
  expect(await outcomeOf(...scripts)).toBe(outcome)
})
