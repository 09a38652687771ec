import type { Network } from '../../registry/primitives/network.js'
import { prepare, type Queryable } from '../pg/prepared.js'

/** A wallet that the public sees in a cluster. */
export interface PublicWallet {
  address: Buffer
  name: string
  isVerified: boolean
}

interface Columns {
  ord: number
  address: Buffer | null
  name: string
  verified: boolean
}

// a cluster that a name stands for has one row without an address where nobody sees a wallet in it; the limit stands inside,
// so that no more rows are read than it lets through
const byNames = prepare<Columns>(
  'public_wallets_by_names',
  (l) => `SELECT ord, address, name, verified FROM (
    SELECT i.ord, w.address, w.name, w.verified, w.created_seq
    FROM unnest($1::text[]) WITH ORDINALITY AS i(name, ord)
    CROSS JOIN LATERAL (
      SELECT n.cluster FROM ${l.names} n WHERE n.network = ${l.network} AND n.name = i.name AND n.outcome = 1 LIMIT 1
    ) n
    LEFT JOIN LATERAL (
      SELECT w.address, w.name, w.verified, w.created_seq FROM ${l.wallets} w
      WHERE w.network = ${l.network} AND w.cluster = n.cluster AND NOT w.private
    ) w ON true
    LIMIT $2
  ) found ORDER BY ord, created_seq, address`,
)

/**
 * The public wallets, oldest first, of the clusters that hold these (canonical) names: one element per name, in their
 * order; null where nobody holds it.
 * @param limit of wallets, all names together
 * @returns null when they are more than the limit
 */
export async function findPublicWallets(
  db: Queryable,
  network: Network,
  names: readonly string[],
  limit: number,
): Promise<(PublicWallet[] | null)[] | null> {
  const found: (PublicWallet[] | null)[] = names.map(() => null)
  if (names.length === 0) return found
  const rows = await byNames(db, network, [names, limit + 1])
  if (rows.length > limit) return null
  for (const { ord, address, name, verified } of rows) {
    const wallets = found[ord - 1] ?? []
    if (address) wallets.push({ address, name, isVerified: verified })
    found[ord - 1] = wallets
  }
  return found
}
