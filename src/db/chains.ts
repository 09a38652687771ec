import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../registry/primitives/network.js'
import { assertLeader } from './journal/head.js'
import { inTransaction } from './pg/pool.js'

/** A chain's row: its number and its checkpoint. */
export interface ChainRow {
  network: Network
  chain: number
  label: string
  /** The first block that is not yet in the journal. */
  nextBlock: number
  /** Hash of block nextBlock - 1, null before the first. */
  parentHash: Buffer | null
  halted: string | null
}

export interface ChainIdentity {
  network: Network
  label: string
  /** Tells instances under one label apart: the program of a Solana cluster in base58; empty for EVM chains. */
  instance: string
  /** EIP-155 id, null for Solana. */
  chainId: number | null
  genesisHash: Buffer
  contract: Buffer
  startBlock: number
}

/** The chain's rows were made for another chain or contract: nothing is taken from it. */
export class ChainMismatchError extends Error {
  override name = 'ChainMismatchError'
}

interface Columns {
  chain: number
  next_block: number
  parent_hash: Buffer | null
  halted: string | null
  genesis_hash: Buffer
  contract: Buffer
}

/**
 * The row of a chain, made at its first start. Chains of a network are numbered in the order in which they come.
 * @throws ChainMismatchError when the database belongs to another chain (told by genesis hash) or contract
 */
export async function registerChain(pool: pg.Pool, identity: ChainIdentity): Promise<ChainRow> {
  const { network, label, instance } = identity
  const code = NETWORK_CODE[network]
  // the head's lock makes numbering safe against a second process that starts at once
  await pool.query(
    `WITH head AS (SELECT network FROM journal_heads WHERE network = $1 FOR UPDATE)
     INSERT INTO chains (network, chain, label, instance, chain_id, genesis_hash, contract, next_block)
     SELECT head.network, (SELECT coalesce(max(chain), 0) + 1 FROM chains WHERE network = $1), $2, $3, $4, $5, $6, $7 FROM head
     ON CONFLICT (network, label, instance) DO NOTHING`,
    [code, label, instance, identity.chainId, identity.genesisHash, identity.contract, identity.startBlock],
  )
  const { rows } = await pool.query<Columns>(
    'SELECT chain, next_block, parent_hash, halted, genesis_hash, contract FROM chains WHERE network = $1 AND label = $2 AND instance = $3',
    [code, label, instance],
  )
  const row = rows[0]!
  if (!row.genesis_hash.equals(identity.genesisHash)) {
    throw new ChainMismatchError(
      `The database was filled from another chain "${label}" (genesis 0x${row.genesis_hash.toString('hex')}, this one has 0x${identity.genesisHash.toString('hex')}): use another database, or for a local world delete its data folder.`,
    )
  }
  if (!row.contract.equals(identity.contract)) {
    throw new ChainMismatchError(
      `The database was filled from contract 0x${row.contract.toString('hex')} on chain "${label}", not from 0x${identity.contract.toString('hex')}: use another database for another contract.`,
    )
  }
  return {
    network,
    chain: row.chain,
    label,
    nextBlock: row.next_block,
    parentHash: row.parent_hash,
    halted: row.halted,
  }
}

/** A chain's row as it stands now. */
export async function readChain(pool: pg.Pool, row: ChainRow): Promise<ChainRow> {
  const sql = 'SELECT next_block, parent_hash, halted FROM chains WHERE network = $1 AND chain = $2'
  const { rows } = await pool.query<Columns>(sql, [NETWORK_CODE[row.network], row.chain])
  const now = rows[0]!
  return { ...row, nextBlock: now.next_block, parentHash: now.parent_hash, halted: now.halted }
}

/** The row of a chain by its label, null when it was never registered. */
export async function findChain(pool: pg.Pool, network: Network, label: string): Promise<ChainRow | null> {
  const sql = `SELECT chain, next_block, parent_hash, halted, genesis_hash, contract FROM chains
    WHERE network = $1 AND label = $2 ORDER BY chain DESC LIMIT 1`
  const row = (await pool.query<Columns>(sql, [NETWORK_CODE[network], label])).rows[0]
  if (!row) return null
  const { chain, next_block: nextBlock, parent_hash: parentHash, halted } = row
  return { network, chain, label, nextBlock, parentHash, halted }
}

/** The genesis hash under which a chain was first registered, null before that. */
export async function knownGenesis(
  pool: pg.Pool,
  network: Network,
  label: string,
  instance = '',
): Promise<Buffer | null> {
  const sql = 'SELECT genesis_hash FROM chains WHERE network = $1 AND label = $2 AND instance = $3'
  const { rows } = await pool.query<Columns>(sql, [NETWORK_CODE[network], label, instance])
  return rows[0]?.genesis_hash ?? null
}

/** A chain's place in the journal: everything before `nextBlock` is in it. */
export interface Checkpoint {
  nextBlock: number
  parentHash: Buffer
}

/**
 * Moves a checkpoint by compare-and-set, in the transaction of the rows it stands for. One row or the transaction fails:
 * somebody else has moved it.
 */
export async function moveCheckpoint(client: pg.ClientBase, row: ChainRow, to: Checkpoint): Promise<void> {
  const { rowCount } = await client.query({
    name: 'move_checkpoint',
    text: 'UPDATE chains SET next_block = $4, parent_hash = $5 WHERE network = $1 AND chain = $2 AND next_block = $3 AND halted IS NULL',
    values: [NETWORK_CODE[row.network], row.chain, row.nextBlock, to.nextBlock, to.parentHash],
  })
  if (rowCount !== 1)
    throw new Error(
      `moving the checkpoint of chain "${row.label}" from block ${row.nextBlock}: it is not there any more`,
    )
}

/**
 * Stops taking anything from a chain, with the reason the operator is shown.
 * @throws LostLeadershipError: a rewind may have put the chain right meanwhile
 */
export async function haltChain(pool: pg.Pool, row: ChainRow, epoch: number, reason: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await assertLeader(client, row.network, epoch)
    const sql = 'UPDATE chains SET halted = $3 WHERE network = $1 AND chain = $2'
    await client.query(sql, [NETWORK_CODE[row.network], row.chain, reason])
  })
}

/** The newest block of a chain that has an entry in the journal, null when none has. */
export async function newestJournalledBlock(pool: pg.Pool, row: ChainRow): Promise<number | null> {
  const { rows } = await pool.query<{ block: number | null }>(
    `SELECT max(block) AS block FROM journal j JOIN journal_heads h USING (network, generation) WHERE j.network = $1 AND j.chain = $2`,
    [NETWORK_CODE[row.network], row.chain],
  )
  return rows[0]?.block ?? null
}

/**
 * Puts a checkpoint back to an earlier block above which the journal holds nothing of this chain. Payments that were believed
 * there and not judged come again, if the chain still has them.
 */
export async function rewindCheckpoint(pool: pg.Pool, row: ChainRow, to: Checkpoint): Promise<void> {
  await inTransaction(pool, async (client) => {
    const at = [NETWORK_CODE[row.network], row.chain, to.nextBlock]
    const sql = 'UPDATE chains SET next_block = $3, parent_hash = $4 WHERE network = $1 AND chain = $2'
    await client.query(sql, [...at, to.parentHash])
    await client.query('DELETE FROM community_payments WHERE network = $1 AND chain = $2 AND block >= $3', at)
  })
}
