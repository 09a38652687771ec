import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { BYTEA_OID, binaryArray } from '../pg/binaryArray.js'
import { AIRDROP_STATE } from '../pg/codes.js'

/** An airdrop whose distributor is watched, and how far its claims are stored. */
export interface WatchedAirdrop {
  network: Network
  airdrop: number
  community: string
  /** 20 bytes. */
  distributor: Buffer
  leafCount: number
  /** Unix time, seconds: no claim is taken from then on. */
  endsAtS: number
  fromBlock: number
  /** The first block whose claims are not believed and stored yet. */
  nextBlock: number
  /** Hash of the block before, null at the start. */
  parentHash: Buffer | null
}

/** A claim as a distributor logged it. */
export interface SeenClaim {
  index: number
  /** Stored address of who was paid. */
  receiver: Buffer
  block: number
  blockHash: Buffer
  logIndex: number
  txHash: Buffer
}

interface WatchedColumns {
  airdrop: number
  community: string
  distributor: Buffer
  leaf_count: number
  ends_at: number
  from_block: number
  next_block: number
  parent_hash: Buffer | null
}

/** The airdrops on the chain of a network label that may still be claimed from. */
export async function watchedAirdrops(pool: pg.Pool, network: Network, label: string): Promise<WatchedAirdrop[]> {
  const { rows } = await pool.query<WatchedColumns>({
    name: 'watched_airdrops',
    text: `SELECT airdrop, community, distributor, leaf_count, ends_at, from_block, next_block, parent_hash
      FROM airdrops WHERE network = $1 AND label = $2 AND state = $3 ORDER BY airdrop`,
    values: [NETWORK_CODE[network], label, AIRDROP_STATE.open],
  })
  return rows.map((row) => ({
    network,
    airdrop: row.airdrop,
    community: row.community,
    distributor: row.distributor,
    leafCount: row.leaf_count,
    endsAtS: row.ends_at,
    fromBlock: row.from_block,
    nextBlock: row.next_block,
    parentHash: row.parent_hash,
  }))
}

/** Confirmed blocks from an airdrop's checkpoint on. */
export interface ConfirmedClaims {
  /** The last of the blocks, and its hash. */
  to: number
  hash: Buffer
  claims: readonly SeenClaim[]
  /** No later block can hold a claim. */
  isEnded: boolean
}

/**
 * Stores what confirmed blocks hold and moves the checkpoint behind them, in the caller's transaction. What was stored of these
 * blocks before, another fork's perhaps, is replaced.
 * @returns false, and nothing is done, where the airdrop was changed meanwhile: removed, replaced, given another distributor
 */
export async function storeConfirmedClaims(
  client: pg.ClientBase,
  watched: WatchedAirdrop,
  { to, hash, claims, isEnded }: ConfirmedClaims,
): Promise<boolean> {
  const { network, airdrop, distributor, nextBlock } = watched
  const key = [NETWORK_CODE[network], airdrop]
  const { rowCount } = await client.query(
    `UPDATE airdrops SET next_block = $5, parent_hash = $6, state = $7
     WHERE network = $1 AND airdrop = $2 AND distributor = $3 AND next_block = $4`,
    [...key, distributor, nextBlock, to + 1, hash, AIRDROP_STATE[isEnded ? 'ended' : 'open']],
  )
  if (rowCount !== 1) return false
  await client.query(
    `DELETE FROM airdrop_claims WHERE network = $1 AND airdrop = $2
       AND (block BETWEEN $3 AND $4 OR (NOT confirmed AND (block <= $4 OR $5)))`,
    [...key, nextBlock, to, isEnded],
  )
  await insertClaims(
    client,
    watched,
    claims,
    true,
    `DO UPDATE SET receiver = excluded.receiver, block = excluded.block, block_hash = excluded.block_hash,
       log_index = excluded.log_index, tx_hash = excluded.tx_hash, confirmed = true`,
  )
  return true
}

/**
 * Makes these the airdrop's unconfirmed claims, all of them, in the caller's transaction.
 * @returns false as `storeConfirmedClaims`
 */
export async function storeUnconfirmedClaims(
  client: pg.ClientBase,
  watched: WatchedAirdrop,
  claims: readonly SeenClaim[],
): Promise<boolean> {
  const { network, airdrop, distributor, nextBlock } = watched
  const { rowCount } = await client.query(
    `SELECT FROM airdrops WHERE network = $1 AND airdrop = $2 AND distributor = $3 AND next_block = $4 FOR UPDATE`,
    [NETWORK_CODE[network], airdrop, distributor, nextBlock],
  )
  if (rowCount !== 1) return false
  await client.query('DELETE FROM airdrop_claims WHERE network = $1 AND airdrop = $2 AND NOT confirmed', [
    NETWORK_CODE[network],
    airdrop,
  ])
  await insertClaims(client, watched, claims, false, 'DO NOTHING')
  return true
}

/**
 * Puts the checkpoint back to where the distributor was deployed: the blocks before it were replaced. The claims stay until the
 * blocks are read again.
 */
export async function restartClaims(client: pg.ClientBase, { network, airdrop }: WatchedAirdrop): Promise<void> {
  await client.query(
    'UPDATE airdrops SET next_block = from_block, parent_hash = NULL WHERE network = $1 AND airdrop = $2',
    [NETWORK_CODE[network], airdrop],
  )
}

async function insertClaims(
  client: pg.ClientBase,
  { network, airdrop }: WatchedAirdrop,
  claims: readonly SeenClaim[],
  isConfirmed: boolean,
  onConflict: string,
): Promise<void> {
  if (claims.length === 0) return
  const bytes = (of: (claim: SeenClaim) => Buffer) => binaryArray(BYTEA_OID, claims.map(of))
  await client.query(
    `INSERT INTO airdrop_claims (network, airdrop, index, receiver, block, block_hash, log_index, tx_hash, confirmed)
     SELECT $1, $2, c.*, $9 FROM unnest($3::int[], $4::bytea[], $5::bigint[], $6::bytea[], $7::int[], $8::bytea[]) c
     ON CONFLICT (network, airdrop, index) ${onConflict}`,
    [
      ...[NETWORK_CODE[network], airdrop, claims.map(({ index }) => index), bytes(({ receiver }) => receiver)],
      ...[claims.map(({ block }) => block), bytes(({ blockHash }) => blockHash)],
      ...[claims.map(({ logIndex }) => logIndex), bytes(({ txHash }) => txHash), isConfirmed],
    ],
  )
}
