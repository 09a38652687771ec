import type { Network } from '../../registry/primitives/network.js'
import type { WalletShare } from '../generated/client.js'
import { prepareSingleRow } from '../journal/partitions.js'
import { type DecodedRow, execute, type Queryable, query, readRows } from '../pg/rows.js'

/**
 * An encrypted share of a generated wallet's key, and the id of the encrypting key. The id is null for a share that is
 * older than key ids.
 */
export type EncryptedWalletShare = Pick<DecodedRow<WalletShare>, 'share' | 'keyId'>

/**
 * The server's encrypted share of a generated wallet's key. `createdBy` requested the wallet in the cluster
 * `clusterId`.
 */
export type ServerShare = Omit<DecodedRow<WalletShare>, 'network' | 'recoveredMs'>

/** Stores a share. The caller's transaction also adds the wallet to the journal. */
export async function storeEncryptedKeyShare(
  db: Queryable,
  network: Network,
  kept: ServerShare,
): Promise<void> {
  await execute(
    db,
    network,
    'INSERT INTO wallet_shares (network, address, cluster_id, created_by, share, key_id, created_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)',
    [kept.address, kept.clusterId, kept.createdBy, kept.share, kept.keyId, kept.createdMs],
  )
}

/**
 * The encrypted share of a generated wallet. Only two kinds of callers get it: the wallet that requested the
 * generation, and wallets verified in the cluster in which it was generated. Listing the address in another cluster
 * gives nobody a share. One statement answers all cases in the same time, because it is private that an address was
 * generated here if its wallet row is private.
 * @returns the share, and whether the caller requested the wallet; null for other callers, and where there is no share
 */
export const findWalletShare = prepareSingleRow<
  EncryptedWalletShare & { isOwn: boolean },
  [address: Buffer, caller: Buffer]
>(
  (l) => `SELECT share, key_id, created_by = $2 AS is_own FROM wallet_shares
    WHERE network = ${l.network} AND address = $1 AND (created_by = $2 OR cluster_id = (
      SELECT c.id FROM ${l.wallets} w JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = w.cluster
      WHERE w.network = ${l.network} AND w.address = $2 AND w.verified))`,
)

/**
 * Marks a signature that requests the key of a generated wallet as used, with all signatures of earlier dates.
 * @param address the generated wallet
 * @param signingMs date in the signed message, Unix ms
 * @returns false where this signature, or one of a later date, was used already, or the wallet has no share
 */
export async function markRecoverySignatureUsed(
  db: Queryable,
  network: Network,
  address: Buffer,
  signingMs: number,
): Promise<boolean> {
  const text = `UPDATE wallet_shares SET recovered_ms = $3
    WHERE network = $1 AND address = $2 AND (recovered_ms IS NULL OR recovered_ms < $3) RETURNING 1`
  return (await query(db, network, text, [address, signingMs])).length === 1
}

/** Number of wallet shares by the key that encrypts them. */
export function countWalletSharesByEncryptionKey(
  db: Queryable,
): Promise<{ keyId: Buffer | null; count: number }[]> {
  return readRows(db, 'SELECT key_id, count(*)::int AS count FROM wallet_shares GROUP BY key_id')
}

/** An encrypted share with the primary key of its row. */
export type ShareWithRowKey = EncryptedWalletShare &
  Pick<DecodedRow<WalletShare>, 'network' | 'address'>

/**
 * Next page of a network's shares that are not encrypted with `keyId`, by address.
 * @param after the last address of the previous page; empty for the first page
 */
export function listSharesUnderOtherKeys(
  db: Queryable,
  network: Network,
  { keyId, after, limit }: { keyId: Buffer; after: Buffer; limit: number },
): Promise<ShareWithRowKey[]> {
  const text = `SELECT network, address, share, key_id FROM wallet_shares
    WHERE network = $1 AND key_id IS DISTINCT FROM $2 AND address > $3 ORDER BY address LIMIT $4`
  return query(db, network, text, [keyId, after, limit])
}

/** Replaces a share by the same share encrypted with another key, unless it was replaced meanwhile. */
export async function replaceEncryptedKeyShare(
  db: Queryable,
  { network, address, share }: ShareWithRowKey,
  sealed: EncryptedWalletShare,
): Promise<void> {
  const text =
    'UPDATE wallet_shares SET share = $4, key_id = $5 WHERE network = $1 AND address = $2 AND share = $3'
  await execute(db, network, text, [address, share, sealed.share, sealed.keyId])
}
