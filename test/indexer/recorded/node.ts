import type { Hex } from 'viem'
import type { RawLog } from '../../../src/chains/evm/logs.js'
import { RECORD_HASH, type Recording } from './recording.js'

/** Answer of a node: a JSON-RPC answer, an HTTP error of a proxy, or none. */
export type Reply =
  | { result: unknown }
  | { error: { code: number; message: string } }
  | { status: number; body: string; headers?: Record<string, string> }
  | 'hangs'
  | 'cuts off'

/** A call, with the number of earlier calls to the node. */
export interface Question {
  method: string
  params: readonly unknown[]
  count: number
}

export type AskedNode = (question: Question) => Reply

export const failure = (code: number, message: string): Reply => ({ error: { code, message } })

type Filter = { address: Hex[]; topics: [Hex[]] } & Partial<
  Record<'blockHash' | 'fromBlock' | 'toBlock', Hex>
>
type Block = Hex | 'latest' | { blockHash: Hex }

/** Number of the block that a call names. Null for a block that the chain does not have up to its head. */
function heightOf({ blocks }: Recording, head: number, block: Block): number | null {
  if (block === 'latest') return head
  if (typeof block === 'string') return Number(block) <= head ? Number(block) : null
  const height = blocks.findIndex(({ hash }) => hash === block.blockHash)
  return height >= 0 && height <= head ? height : null
}

/** Answers as the recorded node did while its newest block was `head`. */
export function answerAt(recording: Recording, head: number, { method, params }: Question): Reply {
  const { config, blocks, records, codes, receipts } = recording
  const [first, second] = params as [never, never]
  switch (method) {
    case 'eth_chainId':
      return { result: `0x${config.chainId.toString(16)}` }
    case 'eth_getBlockByNumber':
    case 'eth_getBlockByHash': {
      const block = method === 'eth_getBlockByHash' ? { blockHash: first } : first
      const height = heightOf(recording, head, block)
      return { result: height === null ? null : blocks[height] }
    }
    case 'eth_getLogs':
      return logsAt(recording, head, first)
    case 'eth_call':
    case 'eth_getCode': {
      const height = heightOf(recording, head, second)
      if (height === null) return failure(-32_000, 'header not found')
      if (method === 'eth_getCode') return { result: codes.get(first) ?? '0x' }
      const { to, data } = first as { to: Hex; data: Hex }
      const result = data === RECORD_HASH ? records.get(to)?.[height] : undefined
      return result ? { result } : failure(-32_601, `eth_call of ${to} was not recorded`)
    }
    case 'eth_getTransactionReceipt': {
      const receipt = receipts.get(first)
      return { result: receipt && Number(receipt.blockNumber) <= head ? receipt : null }
    }
    default:
      return failure(-32_601, `${method} was not recorded`)
  }
}

function logsAt({ blocks, logs }: Recording, head: number, filter: Filter): Reply {
  const { address, topics, blockHash } = filter
  if (blockHash && !blocks.slice(0, head + 1).some(({ hash }) => hash === blockHash))
    return failure(-32_000, 'unknown block')
  const isWithin = (log: RawLog): boolean => {
    const block = Number(log.blockNumber)
    if (blockHash) return log.blockHash === blockHash
    return block >= Number(filter.fromBlock) && block <= Math.min(head, Number(filter.toBlock))
  }
  const isAsked = (log: RawLog): boolean =>
    address.includes(log.address) && (topics[0] as string[]).includes(log.topics[0] ?? '')
  return { result: logs.filter((log) => isWithin(log) && isAsked(log)) }
}
