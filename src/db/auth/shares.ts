import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { leaf } from '../pg/partitions.js'
import type { Queryable } from '../pg/rows.js'

export interface KeptShare {
  /** The generated wallet. */
  address: Buffer
  /** Id of the cluster it was made in. */
  clusterId: Buffer
  /** The wallet that asked for it. */
  createdBy: Buffer
  sealed: Buffer
  createdMs: number
}

/** Keeps the server's share of a generated wallet, encrypted. */
export async function storeShare(db: Queryable, network: Network, share: KeptShare): Promise<void> {
  const { address, clusterId, createdBy, sealed, createdMs } = share
  await db.query(
    'INSERT INTO wallet_shares (network, address, cluster_id, created_by, share, created_ms) VALUES ($1, $2, $3, $4, $5, $6)',
    [NETWORK_CODE[network], address, clusterId, createdBy, sealed, createdMs],
  )
}

/**
 * The encrypted share of a generated wallet, for the wallet that asked for it and for those that are verified in the cluster it
 * was made in: listing the address elsewhere gives nobody a share. Null for anybody else, and where there is none.
 */
export async function findShare(
  db: Queryable,
  network: Network,
  address: Buffer,
  asker: Buffer,
): Promise<Buffer | null> {
  const { rows } = await db.query<{ share: Buffer }>(
    `SELECT s.share FROM wallet_shares s WHERE s.network = $1 AND s.address = $2 AND (s.created_by = $3 OR EXISTS (
       SELECT FROM ${leaf('clusters', network)} c JOIN ${leaf('wallets', network)} m ON m.network = $1 AND m.cluster = c.serial
       WHERE c.network = $1 AND c.id = s.cluster_id AND m.address = $3 AND m.verified))`,
    [NETWORK_CODE[network], address, asker],
  )
  return rows[0]?.share ?? null
}
