import { entryKindOfCode } from '../../registry/journal/entry.js'
import type { FeedItem, FeedRow } from '../../registry/journal/events.js'
import { decodeWallet, STORED_ZERO_ADDRESS } from '../../registry/primitives/address.js'
import type { Network } from '../../registry/primitives/network.js'
import { assertIndexingLeader, type LeaderScope, requireHeadRow } from '../journal/head.js'
import {
  type PartitionNames,
  prepareCommand,
  prepareSingleRow,
  prepareStatement,
} from '../journal/partitions.js'
import { propertyArrays } from '../pg/arrays.js'
import { inTransaction } from '../pg/pool.js'
import { execute, type Queryable } from '../pg/rows.js'

export type FeedOrder = 'oldest' | 'newest'

/** Selects entries with public events, by the numbers of their first events. */
export interface JournalRangeQuery {
  order: FeedOrder
  /** Event number at which the range begins, inclusive. Null: at `floor`, or in newest order at the newest event. */
  first: number | null
  /** Entries whose first event has a lower number are not returned. */
  floor: number
  /** Maximum number of entries to return. */
  limit: number
  /** Width of the search in event numbers: entries that are farther from `first` are not found. Ignored with `from`. */
  events: number
  /** Stored address of the actor. Null for all. */
  from: Buffer | null
}

/** Entries of a network's feed in the requested order, with the head as of the same snapshot. */
export interface JournalRange {
  rows: FeedRow[]
  /** The feed's generation. It changes with the journal's generation, and after a restored backup. */
  generation: number
  /** Number of the newest event. */
  newest: number
}

/** First row of a result: the journal's head, without an entry. */
interface HeadRow {
  generation: number
  newest: number
  kind: null
}
type RangeRow = HeadRow | ({ generation: null; kind: number } & Omit<FeedRow, 'kind'>)

const ENTRY_COLUMNS = 'j.kind, j.at_ms, j.public_first, j.public_count, j.actor, j.body, j.effects'

/**
 * SQL conditions on entries, by order. `$1` is `first` of the query, and `$2` its `floor`. The scan follows partial
 * indexes on public event numbers, so its time does not depend on private entries.
 */
const RANGE_CONDITIONS_SQL = {
  oldest: 'j.public_first >= greatest($1::int8, $2::int8)',
  newest: 'j.public_first <= coalesce($1::int8, h.public_seq) AND j.public_first >= $2::int8',
} as const
/**
 * SQL: ends the scan at the entry that begins `$4` events from the start of the range, or else at the last entry before
 * that event number. Event numbers have no gaps.
 */
const eventLimitSql = (l: PartitionNames, order: FeedOrder): string =>
  order === 'oldest'
    ? 'AND j.public_first <= greatest($1::int8, $2::int8) + $4::int8'
    : `AND j.public_first >= coalesce((SELECT max(b.public_first) FROM ${l.journal} b WHERE b.network = ${l.network}
        AND b.generation = h.generation AND b.public_count > 0
        AND b.public_first <= coalesce($1::int8, h.public_seq) - $4::int8), 0)`
const SORT_DIRECTION = { oldest: 'ASC', newest: 'DESC' } as const

const entriesSql = (l: PartitionNames, order: FeedOrder, filter: string): string =>
  `SELECT ${ENTRY_COLUMNS} FROM ${l.journal} j
   WHERE j.network = ${l.network} AND j.generation = h.generation AND ${RANGE_CONDITIONS_SQL[order]} AND j.public_count > 0 ${filter}
   ORDER BY j.public_first ${SORT_DIRECTION[order]} LIMIT $3`

/**
 * SQL: the head as a first row, then the entries. If each row had the head's columns, PostgreSQL would read the head
 * for each row.
 */
const headAndEntriesSql = (l: PartitionNames, order: FeedOrder, rows: string): string =>
  `SELECT h.feed_generation AS generation, h.public_seq AS newest, NULL::int2 AS kind, NULL::int8 AS at_ms,
     NULL::int8 AS public_first, NULL::int4 AS public_count, NULL::bytea AS actor, NULL::bytea AS body, NULL::bytea AS effects
   FROM journal_heads h WHERE h.network = ${l.network}
   UNION ALL
   SELECT NULL, NULL, j.* FROM journal_heads h CROSS JOIN LATERAL (${rows}) j WHERE h.network = ${l.network}
   ORDER BY public_first ${SORT_DIRECTION[order]} NULLS FIRST`

/** Prepares a statement for each order. `rows` returns the SQL of the entries in an order. */
const prepareBothOrders = (rows: (l: PartitionNames, order: FeedOrder) => string) => {
  const of = (order: FeedOrder) =>
    prepareStatement<RangeRow, unknown[]>((l) => headAndEntriesSql(l, order, rows(l, order)))
  return { oldest: of('oldest'), newest: of('newest') }
}
const readAllEntries = prepareBothOrders((l, order) =>
  entriesSql(l, order, eventLimitSql(l, order)),
)
const readEntriesOfActor = prepareBothOrders((l, order) => entriesSql(l, order, 'AND j.actor = $4'))
// The zero address also matches private actors, because the feed shows them as the zero address. Each half of the union
// uses the index.
const readEntriesOfNobody = prepareBothOrders(
  (l, order) =>
    `SELECT * FROM ((${entriesSql(l, order, 'AND j.actor = $4')}) UNION ALL (${entriesSql(l, order, 'AND j.actor IS NULL')})) j
     ORDER BY j.public_first ${SORT_DIRECTION[order]} LIMIT $3`,
)

/** Reads entries with public events and the head in one statement. */
export async function readJournalRange(
  db: Queryable,
  network: Network,
  query: JournalRangeQuery,
): Promise<JournalRange> {
  const { order, from } = query
  const values = [query.first, query.floor, query.limit]
  const rows = from
    ? await (from.equals(STORED_ZERO_ADDRESS) ? readEntriesOfNobody : readEntriesOfActor)[order](
        db,
        network,
        ...values,
        from,
      )
    : await readAllEntries[order](db, network, ...values, query.events)
  const { generation, newest } = requireHeadRow(rows, network) as HeadRow
  const entryRows = rows.flatMap((row) =>
    row.kind === null ? [] : [Object.assign(row, { kind: entryKindOfCode(row.kind) })],
  )
  return { generation, newest, rows: entryRows }
}

// this statement bisects the event numbers, because timestamps never decrease: about 30 probes
const readFirstEventSince = prepareSingleRow<{ generation: number; newest: number; first: number }>(
  (l) => `WITH RECURSIVE head AS (
      SELECT h.* FROM journal_heads h WHERE h.network = ${l.network}
    ), span(feed, generation, newest, low, high) AS (
      SELECT feed_generation, generation, public_seq, 1::int8, public_seq + 1 FROM head
      UNION ALL
      SELECT s.feed, s.generation, s.newest,
        CASE WHEN j.at_ms >= $1 THEN s.low ELSE j.public_first + j.public_count END,
        CASE WHEN j.at_ms >= $1 THEN j.public_first ELSE s.high END
      FROM span s
      CROSS JOIN LATERAL (
        SELECT at_ms, public_first, public_count FROM ${l.journal} j
        WHERE j.network = ${l.network} AND j.generation = s.generation AND j.public_count > 0
          AND j.public_first <= (s.low + s.high) / 2
        ORDER BY j.public_first DESC LIMIT 1
      ) j
      WHERE s.low < s.high
    )
    SELECT feed AS generation, newest, low AS first FROM span WHERE low = high`,
)

/**
 * Number of the first event at or after a time (ms). Without such an event, the number after the newest event.
 * @throws Error where the journal has a gap
 */
export async function findFirstEventSince(
  db: Queryable,
  network: Network,
  sinceMs: number,
): Promise<{ generation: number; newest: number; first: number }> {
  const row = await readFirstEventSince(db, network, sinceMs)
  if (!row)
    throw new Error(
      `finding the first event since ${sinceMs} ms: the journal of ${network} has a gap`,
    )
  return row
}

const readClusterIdRows = prepareStatement<{ serial: number; id: string }>(
  (l) => `SELECT c.serial, '0x' || encode(c.id, 'hex') AS id FROM journal_heads h
    JOIN ${l.clusters} c ON c.network = h.network AND c.serial = ANY($1::int8[])
    WHERE h.network = ${l.network} AND h.feed_generation = $2`,
)

/** Public ids of clusters, hex, by serial. Empty if `generation` is not the feed's current generation. */
export async function readClusterIds(
  db: Queryable,
  network: Network,
  serials: readonly number[],
  generation: number,
): Promise<Map<number, string>> {
  if (serials.length === 0) return new Map()
  const rows = await readClusterIdRows(db, network, serials, generation)
  return new Map(rows.map(({ serial, id }) => [serial, id]))
}

/** The copy of the current generation's feed for SQL readers. It has the first `count` events. */
export interface SqlFeedCopy {
  generation: number
  count: number
  /** Number of the newest event. */
  newest: number
  /** True if the journal has caught up with the hub, or a mirror has verified a checkpoint of its source. */
  isComplete: boolean
  /** True if the SQL views show this copy. */
  isShown: boolean
}

const readSqlFeedCopyRow = prepareSingleRow<SqlFeedCopy>(
  (l) => `SELECT h.feed_generation AS generation, h.public_seq AS newest,
      h.caught_up OR h.mirrored_ms IS NOT NULL AS is_complete, coalesce((
      SELECT max(number) FROM feed_events WHERE network = ${l.network} AND generation = h.feed_generation
    ), 0) AS count, coalesce(s.generation = h.feed_generation, false) AS is_shown
    FROM journal_heads h LEFT JOIN feed_shown s USING (network) WHERE h.network = ${l.network}`,
)

/** Reads the state of a network's feed copy for SQL readers. */
export const readSqlFeedCopy = async (db: Queryable, network: Network): Promise<SqlFeedCopy> =>
  (await readSqlFeedCopyRow(db, network))!

const SHOW_SQL_FEED_COPY = `INSERT INTO feed_shown (network, generation) VALUES ($1, $2)
  ON CONFLICT (network) DO UPDATE SET generation = $2 WHERE feed_shown.generation <> $2`
const ADD_TO_SQL_FEED_COPY = `INSERT INTO feed_events
    (network, generation, number, type, actor, at_ms, cluster_id, community, name, address, address_type, data)
  SELECT $1, $2, number, event->>'type', event->>'from', (event->>'timestamp')::int8,
    coalesce(data->>'cluster_id', data->>'to'), data->>'community', data->>'name', data->>'address', type, data
  FROM unnest($3::int8[], $4::jsonb[], $5::text[]) AS e(number, event, type)
  CROSS JOIN LATERAL (SELECT event->'data') AS d(data)`

/**
 * Appends events, in their v1 JSON, to the copy. Shows the copy once it has the newest event.
 * @throws LostLeadershipError
 */
export async function appendToSqlFeedCopy(
  { pool, network, epoch }: LeaderScope,
  { generation, newest, count }: SqlFeedCopy,
  events: readonly (FeedItem & { json: string })[],
): Promise<void> {
  const types = events.map(({ event }) =>
    'wallet' in event ? decodeWallet(event.wallet).type : null,
  )
  await inTransaction(pool, async (client) => {
    await assertIndexingLeader(client, network, epoch)
    const values = [generation, ...propertyArrays(events, 'number', 'json'), types]
    await execute(client, network, ADD_TO_SQL_FEED_COPY, values)
    if ((events.at(-1)?.number ?? count) >= newest)
      await execute(client, network, SHOW_SQL_FEED_COPY, [generation])
  })
}

/** Hides the copy from SQL readers. The rows stay, and a later copy continues after them. */
export const hideSqlFeedCopy = prepareCommand('DELETE FROM feed_shown WHERE network = $1')
