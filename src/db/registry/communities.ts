import type { Network } from '../../registry/primitives/network.js'
import { WON } from '../pg/codes.js'
import { holderOf, prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'
import { publicWallet } from './publicWallets.js'

const verifiedIn = prepare<{ name: string }>(
  'verified_in_clusters',
  (l) => `SELECT i.name FROM unnest($2::text[]) AS i(name)
    CROSS JOIN LATERAL (
      SELECT ${holderOf(l, 'n.cluster')} AS cluster FROM ${l.names} n WHERE n.network = ${l.network} AND n.name = i.name AND n.outcome = ${WON} LIMIT 1
    ) n
    JOIN (${publicWallet(l, '$1')}) w ON w.verified AND w.cluster = n.cluster`,
)

/**
 * Names among these in whose clusters a wallet is publicly verified. A private membership doesn't count: the name that
 * a met requirement allows would reveal it.
 * @param address its stored form
 * @param names canonical names of clusters
 */
export async function verifiedInClusters(
  db: Queryable,
  network: Network,
  address: Buffer,
  names: readonly string[],
): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  return new Set((await verifiedIn(db, network, [address, names])).map(({ name }) => name))
}
