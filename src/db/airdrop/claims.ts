import type pg from 'pg'
import type { AirdropClaim } from '../generated/client.js'
import { prepareStatement } from '../journal/partitions.js'
import { type ArrayColumns, columnsFromProperties, insertRows } from '../pg/arrays.js'
import { type DecodedRow, execute, prepared } from '../pg/rows.js'
import {
  AIRDROP_STATE,
  type AirdropWithoutClaimCounts,
  type RequiredAirdropFields,
} from './airdrops.js'

/** An airdrop whose distributor is watched, with the cursor of its claims. */
export type WatchedAirdrop = Pick<
  AirdropWithoutClaimCounts,
  'network' | 'airdrop' | 'community' | 'leafCount' | 'parentHash'
> &
  RequiredAirdropFields<'distributor' | 'endsAtS' | 'fromBlock' | 'nextBlock'>

export type ClaimOnChain = Omit<DecodedRow<AirdropClaim>, 'network' | 'airdrop' | 'confirmed'>

/** Airdrops whose distributor is on the chain with a network label, and that have not ended. */
export const readWatchedAirdrops = prepareStatement<WatchedAirdrop, [label: string]>(
  prepared(`SELECT network, airdrop, community, distributor, leaf_count, ends_at_s, from_block, next_block, parent_hash
    FROM airdrops WHERE network = $1 AND label = $2 AND state = ${AIRDROP_STATE.open} ORDER BY airdrop`),
)

/** A range of confirmed blocks that begins at an airdrop's cursor (`nextBlock`). */
interface ConfirmedBlocks {
  /** Number and hash of the last block. */
  to: number
  hash: Buffer
  /** True if no block after the range can hold a claim. */
  isEnded: boolean
}

const claimColumns = (airdrop: number, isConfirmed: boolean): ArrayColumns<ClaimOnChain> => [
  ['airdrop', 'int4', () => airdrop],
  ['confirmed', 'bool', () => isConfirmed],
  ...columnsFromProperties<ClaimOnChain>('int4', 'index', 'logIndex'),
  ...columnsFromProperties<ClaimOnChain>('bytea', 'receiver', 'blockHash', 'txHash'),
  ...columnsFromProperties<ClaimOnChain>('int8', 'block'),
]

/**
 * Stores claims in the caller's transaction. Claims of confirmed blocks move the airdrop's cursor, and replace the
 * claims stored for the same blocks, which may be of another fork. Unconfirmed claims replace all unconfirmed claims.
 * @param confirmed blocks that the claims are of; null for claims of unconfirmed blocks
 * @returns false, with nothing stored, where the airdrop's cursor or distributor has changed meanwhile, or the airdrop
 * was removed or replaced
 */
export async function storeClaims(
  client: pg.ClientBase,
  watched: WatchedAirdrop,
  claims: readonly ClaimOnChain[],
  confirmed: ConfirmedBlocks | null,
): Promise<boolean> {
  const { network, airdrop, distributor, nextBlock, parentHash } = watched
  const { to, hash, isEnded } = confirmed ?? { to: nextBlock - 1, hash: parentHash, isEnded: false }
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
    [airdrop, nextBlock, to, isEnded || confirmed === null],
  )
  await insertRows(client, network, {
    table: 'airdrop_claims',
    columns: claimColumns(airdrop, confirmed !== null),
    items: claims,
    // a confirmed claim replaces any stored claim, and an unconfirmed claim replaces none
    onConflict: (set) => `(network, airdrop, index) DO UPDATE SET ${set} WHERE excluded.confirmed`,
  })
  return true
}

/**
 * Restarts the indexing of an airdrop's claims at its first block. Stored claims stay until their blocks are read
 * again.
 */
export async function restartClaimIndexing(
  client: pg.ClientBase,
  { network, airdrop }: WatchedAirdrop,
): Promise<void> {
  const sql =
    'UPDATE airdrops SET next_block = from_block, parent_hash = NULL WHERE network = $1 AND airdrop = $2'
  await execute(client, network, sql, [airdrop])
}
