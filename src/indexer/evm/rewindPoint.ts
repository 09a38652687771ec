import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import { getHeader } from '../../chains/evm/logs.js'
import type { ChainRow } from '../../db/chains.js'
import type { RewindTarget } from '../../db/journal/rewind/index.js'
import { readHashes } from '../../db/journal/tail.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'

/**
 * Where a chain is rewound to, checked against the chain: the block before has to be one that both hold, else the next step would
 * halt the chain again.
 * @param block the first block to leave out
 * @throws Error with one sentence that names a block that will do; ChainUnavailableError
 */
export async function rewindPoint(pool: pg.Pool, chain: EvmChain, row: ChainRow, block: number): Promise<RewindTarget> {
  const { startBlock } = chain.config
  const where = `chain "${row.label}"`
  if (block < startBlock)
    throw new Error(`${where} is indexed from block ${startBlock} on: choose that one or a later.`)
  if (block > row.nextBlock)
    throw new Error(`${where} is in the journal up to block ${row.nextBlock - 1}: choose ${row.nextBlock} or earlier.`)
  const target = { row, isHub: chain.role === 'hub', block }
  if (block === startBlock) return { ...target, parentHash: null, parentMs: 0 }
  const header = await chain.rpc.onOneNode((call) => getHeader(call, block - 1))
  if (!header) throw new Error(`${where} has no block ${block - 1} (yet): choose an earlier one, or ask another node.`)
  const ours = await hashesOf(pool, row)
  const held = ours.find((one) => one.block === block - 1)
  if (held && toHex(held.hash) !== header.hash) {
    const common = await newestCommon(chain, ours, block - 1)
    const hint = common === null ? 'earlier than all whose hashes are kept' : `${common + 1} or earlier`
    throw new Error(`block ${block - 1} of ${where} has been replaced too: choose ${hint}.`)
  }
  return { ...target, parentHash: fromHex(header.hash), parentMs: header.timestampMs }
}

/** The block after the newest one that the chain still has of those whose hashes are kept; null when it has none. */
export async function suggestedBlock(pool: pg.Pool, chain: EvmChain, row: ChainRow): Promise<number | null> {
  const common = await newestCommon(chain, await hashesOf(pool, row), row.nextBlock)
  return common === null ? null : common + 1
}

async function hashesOf(pool: pg.Pool, row: ChainRow): Promise<{ block: number; hash: Buffer }[]> {
  const kept = (await readHashes(pool, row.network, row.chain)).filter(({ block }) => block < row.nextBlock - 1)
  return row.parentHash ? [{ block: row.nextBlock - 1, hash: row.parentHash }, ...kept] : kept
}

async function newestCommon(
  chain: EvmChain,
  ours: readonly { block: number; hash: Buffer }[],
  below: number,
): Promise<number | null> {
  for (const { block, hash } of ours) {
    if (block >= below) continue
    const header = await chain.rpc.onOneNode((call) => getHeader(call, block))
    if (header?.hash === toHex(hash)) return block
  }
  return null
}
