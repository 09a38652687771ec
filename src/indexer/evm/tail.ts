import type { EvmChain } from '../../chains/evm/chain.js'
import { logFilterOf } from '../../chains/evm/decodeLogs.js'
import { assertHeadersLinked, getBlockLogs, getHeader, type Header } from '../../chains/evm/logs.js'
import { MissingDataError, transientError } from '../../chains/rpc/errors.js'
import { type Call, inBatches } from '../../chains/rpc/nodes.js'
import type { ChainRow } from '../../db/journal/chains.js'
import { minimumEntries } from '../../record/minima.js'
import { decodedLogs } from '../../record/ranges.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { DeepReorgError, isCheckpointReplaced } from './checkpoint.js'
import type { TailBlock } from './types.js'

export interface KnownBlocks {
  chain: EvmChain
  /** The checkpoint is the newest confirmed block. */
  row: ChainRow
  /** Unconfirmed blocks on top of the checkpoint, in order. */
  tail: readonly TailBlock[]
}

/** How the chain continues the known blocks. */
export interface TailExtension {
  /** Blocks of the tail from this number on are no longer on the chain. */
  dropFrom: number
  /** Blocks to append, in order, each the parent of the next. */
  blocks: TailBlock[]
}

/** Blocks whose logs are read in parallel. */
const LOGS_AT_ONCE = 8

/**
 * Compares the chain's head with the tail and reads new blocks from one node. Checks every block's parent. Only another
 * hash at a known height is a reorg.
 * @param maxBlocks most new blocks: a small read succeeds more often
 * @returns null when there is nothing new: the head is known, or is below a known block (a slow node)
 * @throws DeepReorgError when the fork is below the checkpoint
 */
export async function extendTail(
  known: KnownBlocks,
  latest: Header,
  maxBlocks: number,
): Promise<TailExtension | null> {
  const { chain, row, tail } = known
  if (latest.number < row.nextBlock) return null
  const end = Math.min(latest.number, row.nextBlock + tail.length - 1 + maxBlocks)
  return chain.rpc.onOneNode(async (call) => {
    const read = async (newest: Header | null): Promise<TailExtension | null> => {
      if (!newest)
        throw new MissingDataError(`eth_getBlockByNumber: block ${end} below the head is missing`)
      const headers = await newHeaders(call, known, newest)
      const blocks = await inBatches(headers, LOGS_AT_ONCE, (header) =>
        readBlock(call, chain, header),
      )
      return headers[0] ? { dropFrom: headers[0].number, blocks } : null
    }
    const readOwn = async () => read(await getHeader(call, end))
    // the header came from another node, and may be of another fork than this node's
    return latest.number > end ? readOwn() : read(latest).catch(readOwn)
  })
}

async function newHeaders(call: Call, known: KnownBlocks, latest: Header): Promise<Header[]> {
  const { row, tail } = known
  const top = row.nextBlock + tail.length - 1
  const hashAt = (block: number): Buffer | null =>
    block >= row.nextBlock ? (tail[block - row.nextBlock]?.hash ?? null) : row.parentHash
  if (latest.number <= top && hashAt(latest.number)?.equals(fromHex(latest.hash))) return []
  const between = Array.from({ length: Math.max(0, latest.number - top - 1) }, (_, i) =>
    getHeader(call, top + 1 + i),
  )
  const headers = [...(await Promise.all(between)), latest].map((header) => {
    if (!header)
      throw transientError(
        `eth_getBlockByNumber: a block below the head ${latest.number} is missing`,
      )
    return header
  })
  assertHeadersLinked(headers)
  // walks back to the first known block
  for (;;) {
    const lowest = headers[0]!
    const below = lowest.number - 1
    if (hashAt(below)?.equals(fromHex(lowest.parentHash))) return headers
    if (below < row.nextBlock) {
      if (row.parentHash !== null) await failBelowCheckpoint(known, below)
      return headers
    }
    const parent = await getHeader(call, lowest.parentHash)
    if (!parent || parent.number !== below)
      throw transientError(`eth_getBlockByHash: block ${below} (${lowest.parentHash}) is missing`)
    headers.unshift(parent)
  }
}

/** @throws DeepReorgError where the chain has replaced the checkpoint's block, RpcError where only one node has */
async function failBelowCheckpoint({ chain, row }: KnownBlocks, below: number): Promise<never> {
  if (await isCheckpointReplaced(chain, row))
    throw new DeepReorgError(`block ${below} has been replaced`)
  throw transientError(
    `block ${below + 1} is of a fork that leaves out block ${below}, which is on the chain`,
  )
}

async function readBlock(call: Call, chain: EvmChain, header: Header): Promise<TailBlock> {
  const logs = await getBlockLogs(call, logFilterOf(chain.config), header)
  const decoded = await decodedLogs(call, chain, logs, () => header.timestampMs)
  return {
    block: header.number,
    hash: fromHex(header.hash),
    parentHash: fromHex(header.parentHash),
    timestampMs: header.timestampMs,
    decoded: { ...decoded, entries: [...minimumEntries(chain, header), ...decoded.entries] },
  }
}
