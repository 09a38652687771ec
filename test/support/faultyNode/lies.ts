import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import {
  hexQuantity,
  type RpcAnswer,
  type RpcCall,
  type UpstreamCaller,
} from '../../../src/testing/faultProxy/upstream.js'
import type { seededRandomSequence } from '../random.js'

/** Number that is larger than any counter, height or price of a chain. */
const ABSURD = 0xffffffffff
/** Maximum by which a plausible wrong head, or wrong nonce, is ahead of the right one. */
const MOST_AHEAD = 60
const TIMES_DEARER = 1_000_000

/** JSON-RPC methods whose answers can be replaced by a wrong answer. */
export const LIE_METHODS = [
  'eth_getTransactionCount',
  'eth_blockNumber',
  'eth_getBlockByNumber',
  'eth_gasPrice',
  'eth_maxPriorityFeePerGas',
  'eth_feeHistory',
  'eth_getCode',
  'eth_getBalance',
] as const
export type LieMethod = (typeof LIE_METHODS)[number]

type Next = ReturnType<typeof seededRandomSequence>

/** A wrong answer to a call, plausible or absurd. Null for a block requested by number, or without a node's answer. */
export async function wrongAnswerTo(
  call: RpcCall,
  upstream: UpstreamCaller,
  next: Next,
): Promise<RpcAnswer | null> {
  // a block requested by number is not falsified, since the daemon checks such a block by its hash. The daemon takes
  // only the head from a single node.
  if (call.method === 'eth_getBlockByNumber' && String(call.params[0]).startsWith('0x')) return null
  const { result } = await upstream(call.method, call.params)
  if (result === undefined || result === null) return null
  return { result: wrongResult(call.method as LieMethod, result, next) }
}

function wrongResult(method: LieMethod, truth: unknown, next: Next): unknown {
  switch (method) {
    case 'eth_getTransactionCount':
    case 'eth_blockNumber':
      return ahead(truth, next)
    case 'eth_getBlockByNumber':
      return { ...(truth as object), number: ahead((truth as { number: string }).number, next) }
    case 'eth_gasPrice':
    case 'eth_maxPriorityFeePerGas':
      return dearer(truth)
    case 'eth_feeHistory': {
      const { baseFeePerGas } = truth as { baseFeePerGas: string[] }
      return { ...(truth as object), baseFeePerGas: baseFeePerGas.map(dearer) }
    }
    case 'eth_getCode':
      return truth === '0x' ? '0x60006000fd' : '0x'
    case 'eth_getBalance':
      return pickElement(next(), ['0x0', hexQuantity(ABSURD)])
  }
}

const ahead = (truth: unknown, next: Next): string =>
  pickElement(next(), [
    hexQuantity(ABSURD),
    hexQuantity(Number(truth) + integerBetween(next(), 3, MOST_AHEAD)),
  ])

const dearer = (truth: unknown): string => hexQuantity((Number(truth) + 1) * TIMES_DEARER)
