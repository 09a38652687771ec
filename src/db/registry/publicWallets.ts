import type { Network } from '../../registry/primitives/network.js'
import { type PartitionNames, prepareStatement } from '../journal/partitions.js'
import type { Queryable } from '../pg/rows.js'
import { holderOfNameSql } from './heldNames.js'

/**
 * SQL: the public wallet row of an address: its verified row, or else its oldest row. PostgreSQL reads it from the
 * partial index of public rows. A scan that filters out private rows would take time that reveals them.
 */
export const publicWalletSql = (l: PartitionNames, address: string): string =>
  `SELECT cluster, name, verified FROM ${l.wallets} WHERE network = ${l.network} AND address = ${address} AND NOT private
   ORDER BY verified DESC, created_seq, cluster LIMIT 1`

export interface PublicWallet {
  address: Buffer
  name: string
  isVerified: boolean
}

// A cluster without public wallets gives one row without an address. LIMIT is in the inner query, so that no more
// rows are read than returned.
const readPublicWalletRows = prepareStatement<{
  ord: number
  address: Buffer | null
  name: string
  isVerified: boolean
}>(
  (l) => `SELECT ord, address, name, verified AS is_verified FROM (
    SELECT i.ord, w.address, w.name, w.verified, w.created_seq
    FROM unnest($1::text[]) WITH ORDINALITY AS i(name, ord)
    CROSS JOIN LATERAL (${holderOfNameSql(l, 'i.name')}) n
    LEFT JOIN LATERAL (
      SELECT w.address, w.name, w.verified, w.created_seq FROM ${l.wallets} w
      WHERE w.network = ${l.network} AND w.cluster = n.cluster AND NOT w.private
    ) w ON true
    LIMIT $2
  ) found ORDER BY ord, created_seq, address`,
)

/**
 * Public wallets, oldest first, of the clusters that hold these canonical names: one element per name, in the same
 * order. Null where nobody holds the name.
 * @param limit maximum number of wallets of all names together; a held name without public wallets counts as one
 * @returns null when the names have more wallets
 */
export async function findPublicWallets(
  db: Queryable,
  network: Network,
  names: readonly string[],
  limit: number,
): Promise<(PublicWallet[] | null)[] | null> {
  const walletsOfNames: (PublicWallet[] | null)[] = names.map(() => null)
  if (names.length === 0) return walletsOfNames
  const rows = await readPublicWalletRows(db, network, names, limit + 1)
  if (rows.length > limit) return null
  for (const { ord, address, ...wallet } of rows) {
    const wallets = walletsOfNames[ord - 1] ?? []
    if (address) wallets.push({ address, ...wallet })
    walletsOfNames[ord - 1] = wallets
  }
  return walletsOfNames
}
