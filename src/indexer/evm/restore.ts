import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import { getHeader } from '../../chains/evm/logs.js'
import { type ChainRow, newestJournalledBlock, rewindCheckpoint } from '../../db/chains.js'
import { readHashes } from '../../db/journal/tail.js'
import { toHex } from '../../registry/primitives/bytes.js'

/**
 * Moves the checkpoint of a local chain back to the newest block that both hold, if no entry of the journal stands above
 * it. A killed local chain comes back from a state that may be a second old; empty blocks lost with it are no loss.
 * @returns whether the checkpoint stands on the chain again
 */
export async function restoreLocalCheckpoint(pool: pg.Pool, chain: EvmChain, row: ChainRow): Promise<boolean> {
  const journalled = (await newestJournalledBlock(pool, row)) ?? -1
  for (const { block, hash } of await readHashes(pool, row.network, row.chain)) {
    if (block >= row.nextBlock - 1) continue
    if (block < journalled) return false
    const header = await chain.rpc.onOneNode((call) => getHeader(call, block))
    if (header?.hash !== toHex(hash)) continue
    await rewindCheckpoint(pool, row, { nextBlock: block + 1, parentHash: hash })
    row.nextBlock = block + 1
    row.parentHash = hash
    return true
  }
  return false
}
