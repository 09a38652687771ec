import type { Network } from '../../registry/primitives/network.js'
import { prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

/** Counts of a network's registrations, as its head says. */
export interface Counts {
  clusters: number
  /** Events of the feed. */
  events: number
}

const counts = prepare<Counts>(
  'overview_counts',
  (l) => `SELECT h.public_seq AS events, h.serial AS clusters FROM journal_heads h WHERE h.network = ${l.network}`,
)

export async function readCounts(db: Queryable, network: Network): Promise<Counts> {
  return (await counts(db, network, []))[0]!
}
