import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import type { WalletShare } from '../generated/client.js'
import { type Plain, plain, prismaOf, stored } from '../pg/prisma.js'
import { execute, type Queryable, query } from '../pg/rows.js'

/** The server's encrypted share of a generated wallet: `createdBy` asked for the wallet, in the cluster `clusterId`. */
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
 * that it was made in; null for other callers and where there is none. Listing the address in another cluster gives
 * nobody a share.
 * @returns the share, and whether the caller asked for the wallet
 */
export async function findShare(
  pool: pg.Pool,
  network: Network,
  address: Buffer,
  caller: Buffer,
): Promise<{ share: Buffer; isOwn: boolean } | null> {
  const where = { network_address: stored({ network, address }) }
  const row = await (await prismaOf(pool)).walletShare.findUnique({ where })
  if (!row) return null
  const { share, createdBy, clusterId } = plain(row)
  const isOwn = createdBy.equals(caller)
  return isOwn || (await isVerifiedIn(pool, network, clusterId, caller)) ? { share, isOwn } : null
}

async function isVerifiedIn(pool: pg.Pool, network: Network, id: Buffer, address: Buffer): Promise<boolean> {
  const { cluster, wallet } = await prismaOf(pool)
  const found = await cluster.findUnique({ where: { network_id: stored({ network, id }) }, select: { serial: true } })
  if (!found) return false
  const where = { network_cluster_address: stored({ network, cluster: found.serial, address }) }
  return (await wallet.findUnique({ where, select: { verified: true } }))?.verified ?? false
}

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
