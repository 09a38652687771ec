import type { EvmChain } from '../../chains/evm/chain.js'
import type { DecodedBlock } from '../../chains/evm/decodeLogs.js'
import {
  assertHeadersLinked,
  type BlockHeader,
  getBlockHeader,
  requireBlockHeader,
} from '../../chains/evm/logs.js'
import { readBlocksOfHeaders } from '../../chains/evm/runningHash/ranges.js'
import { transientError } from '../../chains/rpc/errors.js'
import type { RpcCall } from '../../chains/rpc/nodes.js'
import type { ChainRow } from '../../db/chains/chains.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { throwForkBelowCursor } from './cursor.js'

interface KnownChainBlocks {
  chain: EvmChain
  /** The chain's row, whose cursor follows the newest block in the journal. */
  row: ChainRow
  /** Unconfirmed blocks on top of the cursor, in order. */
  tail: readonly DecodedBlock[]
}

/** Changes to the unconfirmed blocks (the tail): which blocks a reorg dropped, and which blocks are new. */
export interface TailChange {
  /** Blocks of the tail from this number on are no longer on the chain. */
  dropFrom: number
  /** Blocks to append, in order, each the parent of the next. */
  blocks: DecodedBlock[]
}

/**
 * Compares the chain's head with the unconfirmed blocks (the tail) and reads new blocks from one node. Checks every
 * block's parent. Only another hash at a known height is a reorg.
 * @param maxBlocks maximum number of new blocks: a small read succeeds more often
 * @returns null when there is nothing new: the head is a known block, or a slow node's head is below the cursor
 * @throws DeepReorgError when the fork begins below the cursor; ChainUnavailableError, RpcError
 */
export async function readNewBlocks(
  known: KnownChainBlocks,
  latest: BlockHeader,
  maxBlocks: number,
): Promise<TailChange | null> {
  const { chain, row, tail } = known
  if (latest.number < row.nextBlock) return null
  const end = Math.min(latest.number, row.nextBlock + tail.length - 1 + maxBlocks)
  return chain.rpc.onOneNode(async (call) => {
    const read = async (newest: BlockHeader): Promise<TailChange | null> => {
      const headers = await readNewHeaders(call, known, newest)
      const blocks = await readBlocksOfHeaders(call, chain, headers)
      return headers[0] ? { dropFrom: headers[0].number, blocks } : null
    }
    const readOwn = async () => read(await requireBlockHeader(call, end))
    // the header `latest` came from another node, and may be on another fork than this node's blocks
    return latest.number > end ? readOwn() : read(latest).catch(readOwn)
  })
}

/**
 * Time limit of walking back to a known block, ms: a slow node that invents a fork must not take the time limit of a
 * worker's step.
 */
const WALK_BACK_LIMIT_MS = 30_000

async function readNewHeaders(
  call: RpcCall,
  known: KnownChainBlocks,
  latest: BlockHeader,
): Promise<BlockHeader[]> {
  const { row, tail } = known
  const top = row.nextBlock + tail.length - 1
  const hashAt = (block: number): Buffer | null =>
    block >= row.nextBlock ? (tail[block - row.nextBlock]?.hash ?? null) : row.parentHash
  if (latest.number <= top && hashAt(latest.number)?.equals(fromHex(latest.hash))) return []
  const between = Array.from({ length: Math.max(0, latest.number - top - 1) }, (_, i) =>
    requireBlockHeader(call, top + 1 + i),
  )
  const headers = [...(await Promise.all(between)), latest]
  assertHeadersLinked(headers)
  const endMs = performance.now() + WALK_BACK_LIMIT_MS
  // walks back until a header's parent is a known block
  for (;;) {
    const lowest = headers[0]!
    const below = lowest.number - 1
    if (hashAt(below)?.equals(fromHex(lowest.parentHash))) return headers
    if (below < row.nextBlock) {
      if (row.parentHash !== null) await throwForkBelowCursor(known.chain, row)
      return headers
    }
    if (performance.now() > endMs)
      throw transientError(`eth_getBlockByHash: no known block down to block ${below} of a fork`)
    const parent = await getBlockHeader(call, lowest.parentHash)
    if (!parent || parent.number !== below)
      throw transientError(`eth_getBlockByHash: block ${below} (${lowest.parentHash}) is missing`)
    headers.unshift(parent)
  }
}
