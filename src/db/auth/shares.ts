import type { Network } from '../../registry/primitives/network.js'
import type { WalletShare } from '../generated/client.js'
import { prepareOne } from '../pg/prepared.js'
import { execute, type Plain, type Queryable, query } from '../pg/rows.js'

/** The server's encrypted share of a wallet that `createdBy` had generated in the cluster `clusterId`. */
export type KeptShare = Omit<Plain<WalletShare>, 'network' | 'recoveredMs'>

/** Stores a share in the transaction that journals its wallet. */
export async function storeShare(db: Queryable, network: Network, kept: KeptShare): Promise<void> {
  await execute(
    db,
    network,
    'INSERT INTO wallet_shares (network, address, cluster_id, created_by, share, created_ms) VALUES ($1, $2, $3, $4, $5, $6)',
    [kept.address, kept.clusterId, kept.createdBy, kept.share, kept.createdMs],
  )
}

/**
 * The encrypted share of a generated wallet, for the wallet that asked for it and for wallets verified in the cluster
 * that it was made in; null for other callers and where there is none, which one statement keeps from taking longer:
 * that an address was made here is private where its entry is. Listing it in another cluster gives nobody a share.
 * @returns the share, and whether the caller asked for the wallet
 */
export const findShare = prepareOne<
  { share: Buffer; isOwn: boolean },
  [address: Buffer, caller: Buffer]
>(
  'wallet_share',
  (l) => `SELECT share, created_by = $2 AS is_own FROM wallet_shares
    WHERE network = ${l.network} AND address = $1 AND (created_by = $2 OR cluster_id = (
      SELECT c.id FROM ${l.wallets} w JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = w.cluster
      WHERE w.network = ${l.network} AND w.address = $2 AND w.verified))`,
)

/**
 * Uses a signature that asks for a key up, with all earlier ones.
 * @param signingMs its signing date @returns false where it, or a later one, was used
 */
export async function useRecovery(
  db: Queryable,
  network: Network,
  address: Buffer,
  signingMs: number,
): Promise<boolean> {
  const text = `UPDATE wallet_shares SET recovered_ms = $3
    WHERE network = $1 AND address = $2 AND (recovered_ms IS NULL OR recovered_ms < $3) RETURNING 1`
  return (await query(db, network, text, [address, signingMs])).length === 1
}
