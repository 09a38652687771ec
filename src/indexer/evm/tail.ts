import type { EvmChain } from '../../chains/evm/chain.js'
import { decodeLogs, filterOf } from '../../chains/evm/decodeLogs.js'
import { getBlockLogs, getHeader, type Header } from '../../chains/evm/logs.js'
import { RpcError } from '../../chains/rpc/errors.js'
import type { Call } from '../../chains/rpc/evm.js'
import type { ChainRow } from '../../db/chains.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { DeepReorgError, isCheckpointReplaced } from './checkpoint.js'
import type { TailBlock } from './types.js'

/** How the chain continues what we hold. */
export interface Extension {
  /** Our blocks from here on are no longer on the chain. */
  dropFrom: number
  /** Blocks to add on top, in order, each the parent of the next. */
  blocks: TailBlock[]
}

/**
 * Compares the chain's head with the tail that we hold and reads what is new, from one node. Every block's parent is
 * checked; only another hash at a height that we hold is a reorg.
 * @param held our unconfirmed blocks, in order, on top of the checkpoint
 * @param reach at most so many blocks above ours are read: less in one go gets through more easily
 * @returns null when there is nothing new: the head is ours, or is a lower block of ours (a slow node)
 * @throws DeepReorgError when the fork is below the checkpoint
 */
export async function extendTail(
  chain: EvmChain,
  row: ChainRow,
  held: readonly TailBlock[],
  latest: Header,
  reach: number,
): Promise<Extension | null> {
  if (latest.number < row.nextBlock) return null
  const end = row.nextBlock + held.length - 1 + reach
  return chain.rpc.onOneNode(async (call) => {
    const newest = latest.number > end ? await getHeader(call, end) : latest
    if (!newest) throw new RpcError('transient', `eth_getBlockByNumber: block ${end} below the head is missing`)
    const headers = await newHeaders(call, chain, row, held, newest)
    if (headers.length === 0) return null
    const LOGS_AT_ONCE = 8
    const blocks: TailBlock[] = []
    for (let i = 0; i < headers.length; i += LOGS_AT_ONCE) {
      blocks.push(
        ...(await Promise.all(headers.slice(i, i + LOGS_AT_ONCE).map((header) => readBlock(call, chain, header)))),
      )
    }
    return { dropFrom: headers[0]!.number, blocks }
  })
}

async function newHeaders(
  call: Call,
  chain: EvmChain,
  row: ChainRow,
  held: readonly TailBlock[],
  latest: Header,
): Promise<Header[]> {
  const top = row.nextBlock + held.length - 1
  const hashAt = (block: number): Buffer | null =>
    block >= row.nextBlock ? (held[block - row.nextBlock]?.hash ?? null) : row.parentHash
  if (latest.number <= top && hashAt(latest.number)?.equals(fromHex(latest.hash))) return []
  const between = Array.from({ length: Math.max(0, latest.number - top - 1) }, (_, i) => getHeader(call, top + 1 + i))
  const headers = [...(await Promise.all(between)), latest].map((header) => {
    if (!header)
      throw new RpcError('transient', `eth_getBlockByNumber: a block below the head ${latest.number} is missing`)
    return header
  })
  headers.forEach((header, i) => {
    if (i > 0 && header.parentHash !== headers[i - 1]!.hash) {
      throw new RpcError(
        'transient',
        `block ${header.number} does not continue block ${header.number - 1}: the node changed its fork meanwhile`,
      )
    }
  })
  // walk down until the chain meets a block that we hold
  for (;;) {
    const lowest = headers[0]!
    const below = lowest.number - 1
    const ours = hashAt(below)
    if (ours?.equals(fromHex(lowest.parentHash))) return headers
    if (below < row.nextBlock) {
      if (row.parentHash === null) return headers
      if (await isCheckpointReplaced(chain, row)) throw new DeepReorgError(`block ${below} has been replaced`)
      throw new RpcError(
        'transient',
        `block ${lowest.number} is of a fork that leaves out block ${below}, which is on the chain`,
      )
    }
    const parent = await getHeader(call, lowest.parentHash)
    if (!parent || parent.number !== below)
      throw new RpcError('transient', `eth_getBlockByHash: block ${below} (${lowest.parentHash}) is missing`)
    headers.unshift(parent)
  }
}

async function readBlock(call: Call, chain: EvmChain, header: Header): Promise<TailBlock> {
  const logs = await getBlockLogs(call, filterOf(chain.config), header)
  return {
    block: header.number,
    hash: fromHex(header.hash),
    parentHash: fromHex(header.parentHash),
    timestampMs: header.timestampMs,
    decoded: await decodeLogs(call, { ...chain.config, chain: chain.chain }, logs, () => header.timestampMs),
  }
}
