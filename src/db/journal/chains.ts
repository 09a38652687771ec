import type pg from 'pg'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Chain } from '../generated/client.js'
import { inTransaction } from '../pg/pool.js'
import { type Plain, plain, prismaOf, stored } from '../pg/prisma.js'
import { execute, query } from '../pg/rows.js'
import { assertLeader, endIndexing, lockHead } from './head.js'

/** Number, label and checkpoint of a chain: the journal has blocks before `nextBlock`; `parentHash` is the last's. */
export type ChainRow = Pick<Plain<Chain>, 'network' | 'chain' | 'label' | 'nextBlock' | 'parentHash' | 'halted'>

const CHAIN_ROW = { network: true, chain: true, label: true, nextBlock: true, parentHash: true, halted: true } as const

export interface ChainIdentity {
  network: Network
  label: string
  /** Instance under a label: program of a Solana cluster in base58; empty for EVM chains. */
  instance: string
  /** EIP-155 id, null for Solana. */
  chainId: number | null
  /** Null while the chain was never reached. */
  genesisHash: Buffer | null
  contract: Buffer
  startBlock: number
}

/** Thrown when a database was made for another chain or contract. */
export class ChainMismatchError extends Error {
  override name = 'ChainMismatchError'
}

/**
 * Row of a chain, created at its first start; its genesis is set at the first contact. Numbers count per network, in
 * the order of first starts.
 * @throws ChainMismatchError when the database belongs to another chain (by genesis hash) or contract
 */
export async function registerChain(pool: pg.Pool, identity: ChainIdentity): Promise<ChainRow> {
  const { label } = identity
  const row = plain(await findOrCreate(pool, identity))
  const { genesisHash } = identity
  if (genesisHash && row.genesisHash && !row.genesisHash.equals(genesisHash)) {
    throw new ChainMismatchError(
      `The database was filled from another chain "${label}" (genesis ${toHex(row.genesisHash)}, this one has ${toHex(genesisHash)}): use another database, or for a local world delete its data folder.`,
    )
  }
  if (!row.contract.equals(identity.contract)) {
    throw new ChainMismatchError(
      `The database was filled from contract ${toHex(row.contract)} on chain "${label}", not from ${toHex(identity.contract)}: use another database for another contract.`,
    )
  }
  return row
}

async function findOrCreate(pool: pg.Pool, { startBlock, ...identity }: ChainIdentity): Promise<Chain> {
  const { network, label, instance } = stored(identity)
  const where = { network_label_instance: { network, label, instance } }
  // without a lock, which a database that only reads refuses
  const known = await prismaOf(pool).chain.findUnique({ where })
  const isEnough = ({ genesisHash }: Chain) => genesisHash !== null || identity.genesisHash === null
  if (known && isEnough(known)) return known
  return prismaOf(pool).$transaction(async (tx) => {
    // the head's lock serializes processes that start at the same time
    await tx.$executeRaw`SELECT FROM journal_heads WHERE network = ${network} FOR UPDATE`
    const found = await tx.chain.findUnique({ where })
    if (found && isEnough(found)) return found
    if (found) return tx.chain.update({ where, data: { genesisHash: stored(identity).genesisHash } })
    const { _max } = await tx.chain.aggregate({ where: { network }, _max: { chain: true } })
    return tx.chain.create({ data: { ...stored(identity), chain: (_max.chain ?? 0) + 1, nextBlock: startBlock } })
  })
}

/** Current row of a chain. */
export async function readChain(pool: pg.Pool, { network, chain }: ChainRow): Promise<ChainRow> {
  const where = { network_chain: stored({ network, chain }) }
  return plain(await prismaOf(pool).chain.findUniqueOrThrow({ where, select: CHAIN_ROW }))
}

/** Newest row of a label, null when its chain was never registered. */
export async function findChain(pool: pg.Pool, network: Network, label: string): Promise<ChainRow | null> {
  const where = stored({ network, label })
  const row = await prismaOf(pool).chain.findFirst({ where, orderBy: { chain: 'desc' }, select: CHAIN_ROW })
  return row && plain(row)
}

/** Genesis hash of a chain, null before it was first reached. */
export async function knownGenesis(
  pool: pg.Pool,
  network: Network,
  label: string,
  instance = '',
): Promise<Buffer | null> {
  const where = { network_label_instance: stored({ network, label, instance }) }
  const row = await prismaOf(pool).chain.findUnique({ where, select: { genesisHash: true } })
  return row && plain(row).genesisHash
}

/** Position of a chain in the journal, which has everything before `nextBlock`. */
export interface Checkpoint {
  nextBlock: number
  parentHash: Buffer
}

const MOVE = {
  name: 'move_checkpoint',
  text: `UPDATE chains SET next_block = $4, parent_hash = $5
    WHERE network = $1 AND chain = $2 AND next_block = $3 AND halted IS NULL`,
}

/**
 * Moves a checkpoint by compare-and-set, in the transaction of its rows.
 * @throws Error when another process has moved it
 */
export async function moveCheckpoint(client: pg.ClientBase, row: ChainRow, to: Checkpoint): Promise<void> {
  const values = [row.chain, row.nextBlock, to.nextBlock, to.parentHash]
  if ((await execute(client, row.network, MOVE, values)) !== 1)
    throw new Error(
      `moving the checkpoint of chain "${row.label}" from block ${row.nextBlock}: it is not there any more`,
    )
}

/**
 * Halts indexing of a chain, with the reason for its operator.
 * @throws LostLeadershipError since a rewind may have repaired the chain meanwhile
 */
export async function haltChain(pool: pg.Pool, row: ChainRow, epoch: number, reason: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await assertLeader(client, row.network, epoch)
    const sql = 'UPDATE chains SET halted = $3 WHERE network = $1 AND chain = $2'
    await execute(client, row.network, sql, [row.chain, reason])
  })
}

/**
 * Ends the halt of a chain whose checkpoint is where the row says; the indexing leader takes over anew.
 * @returns false where it is not halted there any more
 */
export function unhaltChain(pool: pg.Pool, { network, chain, nextBlock }: ChainRow): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await lockHead(client, network, null)
    await endIndexing(client, network)
    const sql =
      'UPDATE chains SET halted = NULL WHERE network = $1 AND chain = $2 AND next_block = $3 AND halted IS NOT NULL'
    return (await execute(client, network, sql, [chain, nextBlock])) === 1
  })
}

/** Bodies of a chain's journal entries that have this log index, by their blocks. */
export async function readBodies(
  pool: pg.Pool,
  { network, chain }: ChainRow,
  blocks: readonly number[],
  logIndex: number,
): Promise<Map<number, Buffer>> {
  const sql = `SELECT j.block, j.body FROM journal_heads h JOIN journal j ON j.network = h.network
      AND j.generation = h.generation AND j.chain = $2 AND j.block = ANY ($3::int8[]) AND j.log_index = $4
    WHERE h.network = $1`
  const rows = await query<{ block: number; body: Buffer }>(pool, network, sql, [chain, blocks, logIndex])
  return new Map(rows.map(({ block, body }) => [block, body]))
}
