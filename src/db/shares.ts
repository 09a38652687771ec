import { NETWORK_CODE, type Network } from '../registry/network.js'
import type { Queryable } from './read/prepared.js'
import { leaf } from './tables.js'

/** Keeps the server's share of a generated wallet, encrypted. */
export async function storeShare(
  db: Queryable,
  network: Network,
  share: { address: Buffer; sealed: Buffer; createdMs: number },
): Promise<void> {
  await db.query('INSERT INTO wallet_shares (network, address, share, created_ms) VALUES ($1, $2, $3, $4)', [
    NETWORK_CODE[network],
    share.address,
    share.sealed,
    share.createdMs,
  ])
}

/**
 * The encrypted share of a generated wallet, for a wallet that is verified in a cluster that lists it; null for anybody else,
 * and where there is none.
 */
export async function findShare(
  db: Queryable,
  network: Network,
  address: Buffer,
  member: Buffer,
): Promise<Buffer | null> {
  const wallets = leaf('wallets', network)
  const { rows } = await db.query<{ share: Buffer }>(
    `SELECT s.share FROM ${wallets} m
     JOIN ${wallets} w ON w.network = $1 AND w.cluster = m.cluster AND w.address = $2
     JOIN wallet_shares s ON s.network = $1 AND s.address = $2
     WHERE m.network = $1 AND m.address = $3 AND m.verified`,
    [NETWORK_CODE[network], address, member],
  )
  return rows[0]?.share ?? null
}
