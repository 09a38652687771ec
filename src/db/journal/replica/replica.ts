import { ENTRY_KIND } from '../../../registry/journal/entry.js'
import type { Network } from '../../../registry/primitives/network.js'
import { execute, type Queryable, query, readRows } from '../../pg/rows.js'

/** Networks that were imported, each with the block of the hub at which its names' owners were proved, 0 before. */
export async function readReplicas(db: Queryable): Promise<Map<Network, number>> {
  const text =
    'SELECT network, proved_block AS block FROM journal_heads WHERE proved_block IS NOT NULL'
  const rows = await readRows<{ network: Network; block: number }>(db, text)
  return new Map(rows.map(({ network, block }) => [network, block]))
}

const REGISTERED = `SELECT j.seq, j.body FROM journal_heads h JOIN journal j USING (network, generation)
  WHERE h.network = $1 AND j.seq > $2 AND j.kind = ${ENTRY_KIND.bid} ORDER BY j.seq LIMIT $3`

/** Bodies of the bids that won names, behind an entry and in order. */
export const readRegistered = (db: Queryable, network: Network, after: number, limit: number) =>
  query<{ seq: number; body: Buffer }>(db, network, REGISTERED, [after, limit])

const PROVED =
  'UPDATE journal_heads SET proved_block = $2 WHERE network = $1 AND public_seq = $3 AND proved_block = 0'

/** Records that all names of the first events were proved; nothing where more was imported meanwhile. */
export const markProved = (
  db: Queryable,
  network: Network,
  block: number,
  events: number,
): Promise<number> => execute(db, network, PROVED, [block, events])
