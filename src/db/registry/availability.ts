import type { Network } from '../../registry/primitives/network.js'
import { WON } from '../pg/codes.js'
import { prepare } from '../pg/prepared.js'
import { type Queryable, some } from '../pg/rows.js'
import { readOnce } from './bulk.js'

export type Availability = 'free' | 'taken' | 'pending'

const availability = prepare<{ ord: number; taken: boolean; pending: boolean }>(
  'availability',
  (l) => `SELECT i.ord,
      ${some(`${l.names} n WHERE n.network = ${l.network} AND n.name = i.name AND n.outcome = ${WON}`)} AS taken,
      ${some(`facts f WHERE f.network = ${l.network} AND f.name = i.name`)} AS pending
    FROM unnest($1::text[]) WITH ORDINALITY AS i(name, ord)`,
)

/** Availability of canonical names: `taken` by a confirmed bid, `pending` while an unconfirmed one leads. */
export async function readAvailability(
  db: Queryable,
  network: Network,
  names: readonly string[],
): Promise<Availability[]> {
  const rows = await readOnce(
    names,
    (name) => name,
    (asked) => availability(db, network, [asked]),
  )
  return rows.map((row) => (row?.taken ? 'taken' : row?.pending ? 'pending' : 'free'))
}
