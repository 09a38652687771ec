import { ENTRY_KIND } from '../../registry/journal/entry.js'
import type { Network } from '../../registry/primitives/network.js'
import { WON } from '../pg/codes.js'
import { prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

/** What a network has registered. Private wallets are in no number. */
export interface Counts {
  names: number
  communities: number
  communityNames: number
  clusters: number
  /** Events of the feed. */
  events: number
}

const counts = prepare<Counts>(
  'overview_counts',
  (l) => `SELECT h.public_seq AS events, h.serial AS clusters,
      (SELECT count(*) FROM ${l.names} WHERE network = ${l.network} AND outcome = ${WON}) AS names,
      (SELECT count(*) FROM ${l.names} WHERE network = ${l.network} AND community) AS communities,
      (SELECT count(*) FROM ${l.communityNames} WHERE network = ${l.network}) AS community_names
    FROM journal_heads h WHERE h.network = ${l.network}`,
)

/** The counts of a network. */
export async function readCounts(db: Queryable, network: Network): Promise<Counts> {
  return (await counts(db, network, []))[0]!
}

const registrations = prepare<{ count: number }>(
  'overview_registrations',
  (l) => `SELECT count(*) AS count
    FROM journal_heads h JOIN ${l.journal} j ON j.network = ${l.network} AND j.generation = h.generation
      AND j.public_count > 0 AND j.public_first >= $1 AND j.public_first < $2 AND j.kind = ${ENTRY_KIND.bid}
    WHERE h.network = ${l.network}`,
)

/** Number of names registered by events from one number on and before another. */
export async function countRegistrations(db: Queryable, network: Network, from: number, to: number): Promise<number> {
  return (await registrations(db, network, [from, to]))[0]!.count
}
