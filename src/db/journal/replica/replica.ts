import { ENTRY_KIND } from '../../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import { wordOf } from '../../pg/codes.js'
import { execute, type Queryable, query, readRows } from '../../pg/rows.js'

/** Networks that were imported, each with the block of the hub at which its names' owners were proved, 0 before. */
export async function readReplicas(db: Queryable): Promise<Map<Network, number>> {
  const text = 'SELECT network, proved_block AS block FROM public.journal_heads WHERE proved_block IS NOT NULL'
  const rows = await readRows<{ network: number; block: number }>(db, text)
  return new Map(rows.map(({ network, block }) => [wordOf(NETWORK_CODE, network), block]))
}

/** Refuses what needs the journal's causes, which a feed does not show. @throws Error for an imported network */
export async function requireCauses(db: Queryable, network: Network): Promise<void> {
  if (!(await readReplicas(db)).has(network)) return
  throw new Error(`${network} was imported: its entries have no causes, and can not be folded again.`)
}

/** Body of the entry that registered a name, with its number in the journal. */
export interface RegisteredName {
  seq: number
  body: Buffer
}

/** Registrations of names behind an entry, in order. */
export const readRegistered = (
  db: Queryable,
  network: Network,
  { after, limit }: { after: number; limit: number },
): Promise<RegisteredName[]> =>
  query(
    db,
    network,
    `SELECT j.seq, j.body FROM journal_heads h JOIN journal j ON j.network = h.network AND j.generation = h.generation
     WHERE h.network = $1 AND j.seq > $2 AND j.kind = ${ENTRY_KIND.bid} ORDER BY j.seq LIMIT $3`,
    [after, limit],
  )

/** Records that the owners of all names up to an event were proved; nothing where more was imported meanwhile. */
export async function markProved(
  db: Queryable,
  network: Network,
  { block, publicSeq }: { block: number; publicSeq: number },
): Promise<void> {
  const text = `UPDATE journal_heads SET proved_block = $2
    WHERE network = $1 AND public_seq = $3 AND proved_block IS NOT NULL`
  await execute(db, network, text, [block, publicSeq])
}
