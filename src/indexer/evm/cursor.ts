import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import { type BlockHeader, getBlockHeader } from '../../chains/evm/logs.js'
import { transientError } from '../../chains/rpc/errors.js'
import type { ChainRow } from '../../db/chains/chains.js'
import { readBlockHashes } from '../../db/chains/tail.js'
import { removeNewestChainRows } from '../../db/journal/rewind/rows.js'
import { inTransaction } from '../../db/pg/pool.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'

/**
 * Steps since the last one without an error that must find the cursor's block replaced before indexing of the chain
 * halts: their number, and the minimum time from the first to the last, ms. A few wrong answers may be transient. The
 * cursor's block is the last block before the cursor.
 */
export const HALT_PATIENCE = { failures: 3, ms: 60_000 }
/** A local chain replaces a confirmed block only when it restarts from an older state, so one check is enough. */
export const LOCAL_HALT_PATIENCE = { failures: 1, ms: 0 }

/** The cursor's block is no longer on the chain. */
export class DeepReorgError extends Error {
  override name = 'DeepReorgError'
}

/**
 * True if the cursor's block has been replaced: every node that has a block at the cursor's height has another block
 * there. Where several nodes are configured, at least two must have another block: a single node on another fork is no
 * reason to halt the chain. False before the first confirmed block.
 * @throws ChainUnavailableError
 */
export async function isCursorReplaced(
  chain: EvmChain,
  { parentHash, nextBlock }: Pick<ChainRow, 'parentHash' | 'nextBlock'>,
): Promise<boolean> {
  if (!parentHash) return false
  return isCursorBlockReplaced(chain, await readHashesOfNodes(chain, nextBlock - 1), parentHash)
}

/**
 * Throws the error for a node's block whose parent is not the cursor's block.
 * @throws DeepReorgError where the chain has replaced the cursor's block; otherwise RpcError transient, since the node
 * is on another fork; ChainUnavailableError
 */
export async function throwForkBelowCursor(
  chain: EvmChain,
  row: Pick<ChainRow, 'parentHash' | 'nextBlock'>,
): Promise<never> {
  const block = row.nextBlock - 1
  if (await isCursorReplaced(chain, row))
    throw new DeepReorgError(`block ${block} has been replaced`)
  throw transientError(
    `a node answered from another fork: block ${block} is on the chain, and the node's block ${block + 1} does not follow it`,
  )
}

const isCursorBlockReplaced = (
  { config }: EvmChain,
  hashes: readonly string[],
  parentHash: Buffer,
): boolean =>
  hashes.length >= Math.min(2, config.rpcUrls.length) && !hashes.includes(toHex(parentHash))

/**
 * True if some node has the cursor's block, and no node has another block at its height. Also true before the first
 * confirmed block.
 * @throws ChainUnavailableError
 */
export async function isCursorOnChain(
  chain: EvmChain,
  { parentHash, nextBlock }: ChainRow,
): Promise<boolean> {
  if (!parentHash) return true
  const hashes = await readHashesOfNodes(chain, nextBlock - 1)
  return hashes.length > 0 && hashes.every((hash) => hash === toHex(parentHash))
}

const readHashesOfNodes = async ({ rpc }: EvmChain, block: number): Promise<string[]> =>
  (await rpc.onEveryNode((call) => getBlockHeader(call, block))).flatMap(
    (header) => header?.hash ?? [],
  )

/**
 * Makes sure that the chain has the cursor's block. A chain counts as reorged only if every node that answers with a
 * block at that height has another block, two at least where two are configured. A local chain that restarted from an
 * older state may have lost the block. Then the cursor moves back, unless a journal entry is above the block to which
 * it would move.
 * @throws DeepReorgError, ChainUnavailableError; Error where no node has the block, and too few have another
 */
export async function ensureCursorOnChain(
  pool: pg.Pool,
  chain: EvmChain,
  row: ChainRow,
  epoch: number,
): Promise<void> {
  const { parentHash } = row
  if (!parentHash) return
  const header = await chain.rpc.onOneNode((call) => getBlockHeader(call, row.nextBlock - 1))
  if (header?.hash === toHex(parentHash)) return
  const hashes = await readHashesOfNodes(chain, row.nextBlock - 1)
  if (hashes.includes(toHex(parentHash))) return
  if (!isCursorBlockReplaced(chain, hashes, parentHash))
    throw new Error(
      `getting block ${row.nextBlock - 1}: no node has the indexed block, and too few have another`,
    )
  if (chain.config.local && (await restoreLocalCursor(pool, chain, row, epoch))) return
  const local = `the local chain "${row.label}" is behind the journal (it came back from an older state): delete the world's data folder and start again; `
  throw new DeepReorgError(
    `${chain.config.local ? local : ''}block ${row.nextBlock - 1} has been replaced`,
  )
}

/**
 * Moves the cursor of a local chain back to the newest block that chain and database share, if no journal entry is
 * above that block. A killed local chain restarts from a state that may be a second old, without its newest blocks.
 * @returns true if the cursor is on the chain again
 */
async function restoreLocalCursor(
  pool: pg.Pool,
  chain: EvmChain,
  row: ChainRow,
  epoch: number,
): Promise<boolean> {
  const common = await findNewestCommonBlock(
    chain,
    await readBlockHashes(pool, row.network, row.chain),
    row.nextBlock - 1,
  )
  if (!common) return false
  const nextBlock = common.number + 1
  const parentHash = fromHex(common.hash)
  const target = {
    row,
    isHub: chain.role === 'hub',
    block: nextBlock,
    parentHash,
    parentMs: common.timestampMs,
  }
  if (!(await inTransaction(pool, (client) => removeNewestChainRows(client, target, epoch))))
    return false
  Object.assign(row, { nextBlock, parentHash })
  return true
}

/**
 * Newest of the known blocks before block `below` that is on the chain. Null where the chain has none of them.
 * @param known stored block hashes, newest first
 */
export async function findNewestCommonBlock(
  chain: EvmChain,
  known: readonly { block: number; hash: Buffer }[],
  below: number,
): Promise<BlockHeader | null> {
  for (const { block, hash } of known) {
    if (block >= below) continue
    const header = await chain.rpc.onOneNode((call) => getBlockHeader(call, block))
    if (header?.hash === toHex(hash)) return header
  }
  return null
}
