import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import { readLastConfirmedHashes } from '../../chains/evm/runningHash/prove.js'
import { readAgreedHeader } from '../../chains/evm/runningHash/ranges.js'
import type { ChainRow } from '../../db/chains/chains.js'
import { readBlockHashes } from '../../db/chains/tail.js'
import type { RewindTarget } from '../../db/journal/rewind/rows.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { findNewestCommonBlock } from './cursor.js'

/**
 * Checks the target of a rewind against the chain: chain and database must have the same block before the target, as
 * far as its hash is still stored. Otherwise the next step halts the chain again.
 * @param block first block that the rewind removes
 * @throws Error with one sentence that names a possible block; errors of `readLastConfirmedHashes` and
 * `readAgreedHeader`
 */
export async function checkRewindTarget(
  pool: pg.Pool,
  chain: EvmChain,
  row: ChainRow,
  block: number,
): Promise<RewindTarget> {
  const { startBlock } = chain.config
  const where = `chain "${row.label}"`
  if (block < startBlock)
    throw new Error(`${where} is indexed from block ${startBlock} on: choose that one or a later.`)
  if (block > row.nextBlock)
    throw new Error(
      `${where} is in the journal up to block ${row.nextBlock - 1}: choose ${row.nextBlock} or earlier.`,
    )
  const target = { row, isHub: chain.role === 'hub', block }
  if (block === startBlock) return { ...target, parentHash: null, parentMs: 0 }
  // checks the running hashes at the present cursor, so that logs that are missing before the cursor are detected
  await readLastConfirmedHashes(chain, row)
  // the next blocks have to follow this block, so a hash that one node invented would halt the chain again
  const header = await readAgreedHeader(chain, block - 1)
  const known = await knownHashes(pool, row)
  const before = known.find((one) => one.block === block - 1)
  if (before && toHex(before.hash) !== header.hash) {
    const common = await findNewestCommonBlock(chain, known, block - 1)
    const hint =
      common === null ? 'earlier than all whose hashes are kept' : `${common.number + 1} or earlier`
    throw new Error(`block ${block - 1} of ${where} has been replaced too: choose ${hint}.`)
  }
  return { ...target, parentHash: fromHex(header.hash), parentMs: header.timestampMs }
}

/**
 * First block that a rewind has to remove: the one after the newest stored block that the chain still has. Null where
 * the chain has none of the stored blocks.
 */
export async function suggestRewindBlock(
  pool: pg.Pool,
  chain: EvmChain,
  row: ChainRow,
): Promise<number | null> {
  const common = await findNewestCommonBlock(chain, await knownHashes(pool, row), row.nextBlock)
  return common && common.number + 1
}

/** Stored hashes of confirmed blocks, newest first. */
async function knownHashes(
  pool: pg.Pool,
  row: ChainRow,
): Promise<{ block: number; hash: Buffer }[]> {
  const kept = (await readBlockHashes(pool, row.network, row.chain)).filter(
    ({ block }) => block < row.nextBlock - 1,
  )
  return row.parentHash ? [{ block: row.nextBlock - 1, hash: row.parentHash }, ...kept] : kept
}
