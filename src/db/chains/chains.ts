import type pg from 'pg'
import { EVM } from '../../registry/families.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Chain } from '../generated/client.js'
import { assertIndexingLeader, endLeaderships, lockJournalHead } from '../journal/head.js'
import { prepareSingleRow } from '../journal/partitions.js'
import { inTransaction } from '../pg/pool.js'
import { type DecodedRow, execute, prepared, type Queryable, query } from '../pg/rows.js'

/**
 * SQL: true for an EVM chain `c`. Some queries are for one family only: an EVM contract keeps one credit per payer, and
 * the chain's blocks are in the database. A Solana program keeps one account per payment, whose state is read from the
 * chain.
 */
export const IS_EVM_CHAIN_SQL = `c.family = '${EVM.key}'`

/**
 * Number, label and cursor of a chain. Of an EVM chain, the journal has all blocks before `nextBlock`, and `parentHash`
 * is the hash of the last of these blocks. `record` has the contracts' running hashes as of that block, null where they
 * are not known. `halted` is the reason of a halt, or null. Of a Solana chain, `nextBlock` stays at the start slot: its
 * cursor is in src/db/payments/cursor.ts.
 */
export type ChainRow = Pick<
  DecodedRow<Chain>,
  'network' | 'chain' | 'label' | 'nextBlock' | 'parentHash' | 'record' | 'halted'
>

type StoredChain = ChainRow & Pick<DecodedRow<Chain>, 'genesisHash' | 'contract' | 'family'>

const CHAIN_COLUMNS =
  'network, chain, label, next_block, parent_hash, record, halted, genesis_hash, contract, family'

/**
 * What identifies a chain. `instance` is the program of a Solana chain in base58, since another program may be deployed
 * for the same label. It is empty for an EVM chain.
 */
export interface ChainIdentity
  extends Pick<
    DecodedRow<Chain>,
    'network' | 'label' | 'instance' | 'family' | 'chainId' | 'genesisHash' | 'contract'
  > {
  startBlock: number
}

/** The configuration names another chain, contract, label or hub than those from which the database was filled. */
export class ChainMismatchError extends Error {
  override name = 'ChainMismatchError'
}

/**
 * Returns the row of a chain, and creates it at the chain's first start. The genesis hash is stored as soon as it is
 * known from the configuration or the nodes. Chains are numbered per network, in the order of their first starts.
 * @throws ChainMismatchError when the database belongs to another chain (by genesis hash) or contract, or has the chain
 * under another label
 */
export async function registerChain(pool: pg.Pool, identity: ChainIdentity): Promise<ChainRow> {
  const { label, genesisHash } = identity
  const row = await findOrCreate(pool, identity)
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

const FIND_CHAIN = `SELECT ${CHAIN_COLUMNS} FROM chains WHERE network = $1 AND label = $2 AND instance = $3`
const CREATE_CHAIN = `INSERT INTO chains AS c (network, chain, label, instance, family, chain_id, genesis_hash, contract, next_block)
  SELECT $1, coalesce(max(chain), 0) + 1, $2, $3, $4, $5, $6, $7, $8 FROM chains WHERE network = $1
  ON CONFLICT (network, label, instance) DO UPDATE SET family = excluded.family,
    genesis_hash = coalesce(c.genesis_hash, excluded.genesis_hash)
  RETURNING ${CHAIN_COLUMNS}`

async function findOrCreate(pool: pg.Pool, identity: ChainIdentity): Promise<StoredChain> {
  const { network, label, instance, family, chainId, genesisHash, contract, startBlock } = identity
  // reads without a lock, since a standby server refuses locks
  const [known] = await query<StoredChain>(pool, network, FIND_CHAIN, [label, instance])
  // earlier versions, which had no chain families, stored the default family for each chain
  const isOfFamily = known?.family === family
  if (known && isOfFamily && (known.genesisHash !== null || genesisHash === null)) return known
  return inTransaction(pool, async (client) => {
    // the head's lock serializes processes that start at the same time
    await lockJournalHead(client, network, null)
    await assertNoOtherLabel(client, identity)
    const values = [label, instance, family, chainId, genesisHash, contract, startBlock]
    return (await query<StoredChain>(client, network, CREATE_CHAIN, values))[0]!
  })
}

/**
 * Finds the same chain under another label, by the values from which ids of payments are made: the chain id, or genesis
 * hash and program.
 */
const FIND_SAME_CHAIN = `SELECT label FROM chains WHERE network = $1 AND label <> $2
  AND (chain_id = $3 OR (chain_id IS NULL AND $3::int8 IS NULL AND genesis_hash = $4 AND contract = $5))`

/**
 * Checks that a chain is not stored under another label. Its payments would have the same ids under both labels, and be
 * counted twice or never.
 * @throws ChainMismatchError
 */
async function assertNoOtherLabel(
  db: Queryable,
  { network, label, chainId, genesisHash, contract }: ChainIdentity,
): Promise<void> {
  const values = [label, chainId, genesisHash, contract]
  const [known] = await query<{ label: string }>(db, network, FIND_SAME_CHAIN, values)
  if (!known) return
  throw new ChainMismatchError(
    chainId === null
      ? `The database knows program ${toHex(contract)} of the chain with genesis ${toHex(genesisHash!)} as "${known.label}", and "${label}" has the same two: name the program of "${label}" and its genesis.`
      : `The database knows chain ${chainId} as "${known.label}": give it this label in the chains file again.`,
  )
}

/**
 * Number of a chain's newest entries that are searched for bids. A chain's other entries are payments for names below
 * communities.
 */
const SEARCHED_ENTRIES = 1_000
/**
 * Finds the label of another chain that has bids, or changes of the minimum bid, among its newest entries. Only a hub
 * emits such logs.
 */
const FIND_OTHER_HUB = `SELECT c.label FROM journal_heads h JOIN chains c USING (network)
  WHERE h.network = $1 AND c.chain <> $2 AND EXISTS (SELECT FROM (
      SELECT j.kind FROM journal j WHERE j.network = $1 AND j.generation = h.generation AND j.chain = c.chain
      ORDER BY j.block DESC LIMIT ${SEARCHED_ENTRIES}
    ) newest WHERE kind IN (${ENTRY_KIND.bid}, ${ENTRY_KIND.minimum})) LIMIT 1`

/** @throws ChainMismatchError when another chain than this hub decided the names of the database */
export async function requireSameHub(
  pool: pg.Pool,
  { network, chain, label }: ChainRow,
): Promise<void> {
  const [other] = await query<{ label: string }>(pool, network, FIND_OTHER_HUB, [chain])
  if (!other) return
  throw new ChainMismatchError(
    `The names of this database were registered on chain "${other.label}", and the chains file has "${label}" as the hub of the ${network}: give chain "${other.label}" the role of the hub again, or use another database.`,
  )
}

/** Labels of a network's chains, by the chain number that rows of the database have. */
export async function readChainLabels(
  db: Queryable,
  network: Network,
): Promise<ReadonlyMap<number, string>> {
  const text = 'SELECT chain, label FROM chains WHERE network = $1'
  const rows = await query<{ chain: number; label: string }>(db, network, text, [])
  return new Map(rows.map(({ chain, label }) => [chain, label]))
}

export async function readChain(pool: pg.Pool, { network, chain }: ChainRow): Promise<ChainRow> {
  const text = `SELECT ${CHAIN_COLUMNS} FROM chains WHERE network = $1 AND chain = $2`
  return (await query<StoredChain>(pool, network, text, [chain]))[0]!
}

/** Newest row of `chains` with a label. Null when the label's chain was never registered. */
export const findChain = prepareSingleRow<ChainRow, [label: string]>(
  `SELECT ${CHAIN_COLUMNS} FROM chains WHERE network = $1 AND label = $2 ORDER BY chain DESC LIMIT 1`,
)

/** Stored genesis hash of a chain. Null before the chain is registered, and while its nodes have not given the hash. */
export async function readGenesisHash(
  pool: pg.Pool,
  network: Network,
  label: string,
  instance = '',
): Promise<Buffer | null> {
  return (
    (await query<StoredChain>(pool, network, FIND_CHAIN, [label, instance]))[0]?.genesisHash ?? null
  )
}

/** Cursor of an EVM chain: the journal has all blocks before `nextBlock`. */
export type ChainCursor = Pick<ChainRow, 'nextBlock' | 'record'> & { parentHash: Buffer }

const LOCK_CURSOR = prepared(
  `SELECT FROM chains WHERE network = $1 AND chain = $2 AND next_block = $3 AND halted IS NULL FOR NO KEY UPDATE`,
)

/**
 * Locks a chain's cursor for the transaction that writes the rows of its next blocks.
 * @throws Error when another process has moved the cursor, or the chain is halted
 */
export async function lockChainCursor(db: Queryable, row: ChainRow): Promise<void> {
  if ((await execute(db, row.network, LOCK_CURSOR, [row.chain, row.nextBlock])) !== 1)
    throw new Error(
      `moving the cursor of chain "${row.label}" from block ${row.nextBlock}: it is not there any more, or the chain is halted`,
    )
}

const MOVE_CURSOR = prepared(
  'UPDATE chains SET next_block = $3, parent_hash = $4, record = $5 WHERE network = $1 AND chain = $2',
)

/** Moves a cursor that the transaction has locked. */
export async function moveChainCursor(
  db: Queryable,
  { network, chain }: ChainRow,
  { nextBlock, parentHash, record }: ChainCursor,
): Promise<void> {
  await execute(db, network, MOVE_CURSOR, [chain, nextBlock, parentHash, record])
}

/**
 * Halts the indexing of a chain, with a reason for the operator.
 * @throws LostLeadershipError when another process leads, since a rewind may have repaired the chain meanwhile
 */
export async function haltChain(
  pool: pg.Pool,
  row: ChainRow,
  epoch: number,
  reason: string,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await assertIndexingLeader(client, row.network, epoch)
    const sql = 'UPDATE chains SET halted = $3 WHERE network = $1 AND chain = $2'
    await execute(client, row.network, sql, [row.chain, reason])
  })
}

/**
 * Ends the halt of a chain, if its cursor has not moved since the given row was read. In any case the indexing leader
 * starts again.
 * @returns false where the chain is not halted, or its cursor has moved
 */
export function unhaltChain(
  pool: pg.Pool,
  { network, chain, nextBlock }: ChainRow,
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await lockJournalHead(client, network, null)
    await endLeaderships(client, network, ['index'])
    const sql =
      'UPDATE chains SET halted = NULL WHERE network = $1 AND chain = $2 AND next_block = $3 AND halted IS NOT NULL'
    return (await execute(client, network, sql, [chain, nextBlock])) === 1
  })
}

/** Bodies of the entries that the journal has for given blocks of a chain at one log index, by block number. */
export async function readEntryBodies(
  pool: pg.Pool,
  { network, chain }: ChainRow,
  blocks: readonly number[],
  logIndex: number,
): Promise<Map<number, Buffer>> {
  const sql = `SELECT j.block, j.body FROM journal_heads h JOIN journal j ON j.network = h.network
      AND j.generation = h.generation AND j.chain = $2 AND j.block = ANY ($3::int8[]) AND j.log_index = $4
    WHERE h.network = $1`
  const rows = await query<{ block: number; body: Buffer }>(pool, network, sql, [
    chain,
    blocks,
    logIndex,
  ])
  return new Map(rows.map(({ block, body }) => [block, body]))
}
