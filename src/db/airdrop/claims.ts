import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { BYTEA_OID, binaryArray } from '../pg/arrays.js'
import { AIRDROP_STATE } from '../pg/codes.js'
import { execute, query } from '../pg/rows.js'

/** An airdrop whose distributor is watched, with the checkpoint of its claims. */
export interface WatchedAirdrop {
  network: Network
  airdrop: number
  community: string
  /** 20 bytes. */
  distributor: Buffer
  leafCount: number
  /** Unix time, seconds: the distributor pays no claim from then on. */
  endsAtS: number
  fromBlock: number
  /** First block whose claims are not confirmed and stored yet. */
  nextBlock: number
  /** Hash of the block before, null at the start. */
  parentHash: Buffer | null
}

/** A claim as its distributor logged it. */
export interface SeenClaim {
  index: number
  /** Stored address of the paid account. */
  receiver: Buffer
  block: number
  blockHash: Buffer
  logIndex: number
  txHash: Buffer
}

const WATCHED = {
  name: 'watched_airdrops',
  text: `SELECT airdrop, community, distributor, leaf_count, ends_at_s, from_block, next_block, parent_hash
    FROM airdrops WHERE network = $1 AND label = $2 AND state = ${AIRDROP_STATE.open} ORDER BY airdrop`,
}

/** Airdrops on the chain of a network label that may still be claimed from. */
export async function watchedAirdrops(pool: pg.Pool, network: Network, label: string): Promise<WatchedAirdrop[]> {
  const rows = await query<Omit<WatchedAirdrop, 'network'>>(pool, network, WATCHED, [label])
  return rows.map((row) => ({ ...row, network }))
}

/** Confirmed blocks from an airdrop's checkpoint on. */
export interface ConfirmedClaims {
  /** Number and hash of the last block. */
  to: number
  hash: Buffer
  claims: readonly SeenClaim[]
  /** True where no later block can hold a claim. */
  isEnded: boolean
}

/**
 * Stores claims of confirmed blocks and moves the checkpoint past them, in the caller's transaction. Claims stored
 * earlier of these blocks, perhaps of another fork, are replaced.
 * @returns false, with nothing stored, where the airdrop was removed, replaced or given another distributor meanwhile
 */
export async function storeConfirmedClaims(
  client: pg.ClientBase,
  watched: WatchedAirdrop,
  { to, hash, claims, isEnded }: ConfirmedClaims,
): Promise<boolean> {
  const { network, airdrop, distributor, nextBlock } = watched
  const moved = await execute(
    client,
    network,
    `UPDATE airdrops SET next_block = $5, parent_hash = $6, state = $7
     WHERE network = $1 AND airdrop = $2 AND distributor = $3 AND next_block = $4`,
    [airdrop, distributor, nextBlock, to + 1, hash, AIRDROP_STATE[isEnded ? 'ended' : 'open']],
  )
  if (moved !== 1) return false
  await execute(
    client,
    network,
    `DELETE FROM airdrop_claims WHERE network = $1 AND airdrop = $2
       AND (block BETWEEN $3 AND $4 OR (NOT confirmed AND (block <= $4 OR $5)))`,
    [airdrop, nextBlock, to, isEnded],
  )
  await insertClaims(client, watched, claims, CONFIRMED)
  return true
}

/**
 * Replaces all unconfirmed claims of an airdrop, in the caller's transaction.
 * @returns false as `storeConfirmedClaims`
 */
export async function storeUnconfirmedClaims(
  client: pg.ClientBase,
  watched: WatchedAirdrop,
  claims: readonly SeenClaim[],
): Promise<boolean> {
  const { network, airdrop, distributor, nextBlock } = watched
  const locked = await execute(
    client,
    network,
    `SELECT FROM airdrops WHERE network = $1 AND airdrop = $2 AND distributor = $3 AND next_block = $4 FOR UPDATE`,
    [airdrop, distributor, nextBlock],
  )
  if (locked !== 1) return false
  const sql = 'DELETE FROM airdrop_claims WHERE network = $1 AND airdrop = $2 AND NOT confirmed'
  await execute(client, network, sql, [airdrop])
  await insertClaims(client, watched, claims, UNCONFIRMED)
  return true
}

/** Moves the checkpoint back to the distributor's first block; stored claims stay until their blocks are read again. */
export async function restartClaims(client: pg.ClientBase, { network, airdrop }: WatchedAirdrop): Promise<void> {
  const sql = 'UPDATE airdrops SET next_block = from_block, parent_hash = NULL WHERE network = $1 AND airdrop = $2'
  await execute(client, network, sql, [airdrop])
}

const INSERT = `INSERT INTO airdrop_claims (network, airdrop, index, receiver, block, block_hash, log_index, tx_hash, confirmed)
  SELECT $1, $2, c.*, $9 FROM unnest($3::int[], $4::bytea[], $5::bigint[], $6::bytea[], $7::int[], $8::bytea[]) c
  ON CONFLICT (network, airdrop, index)`
/** A confirmed claim replaces whatever is stored; an unconfirmed one gives way to it. */
const CONFIRMED = {
  isConfirmed: true,
  sql: `${INSERT} DO UPDATE SET receiver = excluded.receiver, block = excluded.block, block_hash = excluded.block_hash,
    log_index = excluded.log_index, tx_hash = excluded.tx_hash, confirmed = true`,
}
const UNCONFIRMED = { isConfirmed: false, sql: `${INSERT} DO NOTHING` }

async function insertClaims(
  client: pg.ClientBase,
  { network, airdrop }: WatchedAirdrop,
  claims: readonly SeenClaim[],
  { isConfirmed, sql }: { isConfirmed: boolean; sql: string },
): Promise<void> {
  if (claims.length === 0) return
  const bytes = (of: (claim: SeenClaim) => Buffer) => binaryArray(BYTEA_OID, claims.map(of))
  await execute(client, network, sql, [
    ...[airdrop, claims.map(({ index }) => index), bytes(({ receiver }) => receiver)],
    ...[claims.map(({ block }) => block), bytes(({ blockHash }) => blockHash)],
    ...[claims.map(({ logIndex }) => logIndex), bytes(({ txHash }) => txHash), isConfirmed],
  ])
}
