import { entryKind } from '../../registry/journal/entry.js'
import type { FeedRow } from '../../registry/journal/events.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Leaves, prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

export type FeedOrder = 'oldest' | 'newest'

/** Stretch of a network's journal, with the head it was read under. */
export interface FeedStretch {
  /** Number of the feed: it changes with the journal's generation, and after a restore. */
  generation: number
  /** Seq of the newest entry. */
  headSeq: number
  /** Entries with public events, in the requested order. */
  rows: FeedRow[]
}

interface Columns {
  generation: number
  headSeq: number
  seq: number | null
  kind: number
  atMs: number
  publicFirst: number
  publicCount: number
  actor: Buffer | null
  body: Buffer
  effects: Buffer
}

const ENTRY = 'j.seq, j.kind, j.at_ms, j.public_first, j.public_count, j.actor, j.body, j.effects'

/** Bounds per order, from position ($1) and floor ($2). Newest order without a position starts at the head. */
const RANGE = {
  oldest: 'j.seq >= greatest($1::int8, $2::int8)',
  newest: 'j.seq <= coalesce($1::int8, h.seq) AND j.seq >= $2::int8',
} as const
const DIRECTION = { oldest: 'ASC', newest: 'DESC' } as const

const entries = (l: Leaves, order: FeedOrder, filter: string): string =>
  `SELECT ${ENTRY} FROM ${l.journal} j
   WHERE j.network = ${l.network} AND j.generation = h.generation AND ${RANGE[order]} AND j.public_count > 0 ${filter}
   ORDER BY j.seq ${DIRECTION[order]} LIMIT $3`

const stretch = (l: Leaves, order: FeedOrder, rows: string): string =>
  `SELECT h.feed_generation AS generation, h.seq AS head_seq, j.* FROM journal_heads h
   LEFT JOIN LATERAL (${rows}) j ON true WHERE h.network = ${l.network} ORDER BY j.seq ${DIRECTION[order]}`

/** Statements for both orders. */
const inOrder = (name: string, rows: (l: Leaves, order: FeedOrder) => string) => {
  const of = (order: FeedOrder) => prepare<Columns>(`feed_${order}${name}`, (l) => stretch(l, order, rows(l, order)))
  return { oldest: of('oldest'), newest: of('newest') }
}
const all = inOrder('', (l, order) => entries(l, order, ''))
const byActor = inOrder('_from', (l, order) => entries(l, order, 'AND j.actor = $4'))
// the zero address finds private actors too, shown as it; each half uses the index
const byNobody = inOrder(
  '_nobody',
  (l, order) =>
    `SELECT * FROM ((${entries(l, order, 'AND j.actor = $4')}) UNION ALL (${entries(l, order, 'AND j.actor IS NULL')})) j
     ORDER BY j.seq ${DIRECTION[order]} LIMIT $3`,
)

export interface StretchQuery {
  order: FeedOrder
  /** First position, inclusive; null in newest order: the head. */
  seq: number | null
  /** Lowest seq. */
  floor: number
  /** Maximum of entries. */
  limit: number
  /** Stored address of the actor, null for all. */
  from: Buffer | null
}

const isZero = (address: Buffer): boolean => address.every((byte, i) => i === 0 || byte === 0)

/** Reads entries with public events and the head in one statement. */
export async function readStretch(db: Queryable, network: Network, query: StretchQuery): Promise<FeedStretch> {
  const { order, from } = query
  const values = [query.seq, query.floor, query.limit]
  const rows = from
    ? await (isZero(from) ? byNobody : byActor)[order](db, network, [...values, from])
    : await all[order](db, network, values)
  const first = rows[0]
  if (!first) throw new Error(`journal_heads has no row for ${network}: run \`clusterd migrate\``)
  return {
    generation: first.generation,
    headSeq: first.headSeq,
    rows: rows.flatMap(({ seq, kind, ...row }) => (seq === null ? [] : [{ ...row, seq, kind: entryKind(kind) }])),
  }
}

// bisects the primary key, since sequence numbers have no gaps and timestamps never fall: some 30 probes
const since = prepare<{ generation: number; headSeq: number; seq: number }>(
  'feed_since',
  (l) => `WITH RECURSIVE span(feed, generation, head_seq, low, high) AS (
      SELECT feed_generation, generation, seq, 1::int8, seq + 1 FROM journal_heads WHERE network = ${l.network}
      UNION ALL
      SELECT s.feed, s.generation, s.head_seq,
        CASE WHEN j.at_ms >= $1 THEN s.low ELSE j.seq + 1 END, CASE WHEN j.at_ms >= $1 THEN j.seq ELSE s.high END
      FROM span s
      JOIN ${l.journal} j ON j.network = ${l.network} AND j.generation = s.generation AND j.seq = (s.low + s.high) / 2
      WHERE s.low < s.high
    )
    SELECT feed AS generation, head_seq, low AS seq FROM span WHERE low = high`,
)

/** Seq of the first entry at or after a time (ms); one past the head without any. */
export async function findSince(
  db: Queryable,
  network: Network,
  sinceMs: number,
): Promise<{ generation: number; headSeq: number; seq: number }> {
  const row = (await since(db, network, [sinceMs]))[0]
  if (!row) throw new Error(`finding the first entry since ${sinceMs} ms: the journal of ${network} has a gap`)
  return row
}

const ids = prepare<{ serial: number; id: Buffer }>(
  'cluster_ids',
  (
    l,
  ) => `SELECT c.serial, c.id FROM journal_heads h JOIN ${l.clusters} c ON c.network = h.network AND c.serial = ANY($1::int8[])
    WHERE h.network = ${l.network} AND h.feed_generation = $2`,
)

/** Public ids of clusters by serial; none for a number of the feed that has ended. */
export async function readClusterIds(
  db: Queryable,
  network: Network,
  serials: readonly number[],
  generation: number,
): Promise<Map<number, Buffer>> {
  if (serials.length === 0) return new Map()
  const rows = await ids(db, network, [serials, generation])
  return new Map(rows.map(({ serial, id }) => [serial, id]))
}
