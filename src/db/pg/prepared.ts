import { NETWORK_CODE, NETWORKS, type Network } from '../../registry/primitives/network.js'
import { type PartitionedTable, partitionName, STATE_TABLES } from './partitions.js'
import { type PreparedText, prepared, type Queryable, readRows } from './rows.js'

/** Values for a statement's text: a network's code, and the names of its partitions by table. */
export type PartitionNames = { network: number } & Record<PartitionedTable, string>

export type PreparedStatement<Row> = (
  db: Queryable,
  network: Network,
  values: readonly unknown[],
) => Promise<Row[]>

/**
 * Prepares a statement for each network, with that network's partitions in its text. PostgreSQL parses and plans it
 * once per connection, and does not search for the partition.
 */
export function prepareStatement<Row>(
  text: (leaves: PartitionNames) => string,
): PreparedStatement<Row> {
  const statements = Object.fromEntries(
    NETWORKS.map((network) => [network, prepared(text(leavesOf(network)))]),
  ) as Record<Network, PreparedText>
  return (db, network, values) => readRows<Row>(db, statements[network], values)
}

/** Like `prepareStatement`, for statements that return at most one row: the row, or null. */
export function prepareSingleRow<Row, Values extends readonly unknown[]>(
  text: (leaves: PartitionNames) => string,
) {
  const read = prepareStatement<Row>(text)
  return async (db: Queryable, network: Network, ...values: Values): Promise<Row | null> =>
    (await read(db, network, values))[0] ?? null
}

function leavesOf(network: Network): PartitionNames {
  const tables = ['journal', ...STATE_TABLES] as const
  const names = tables.map((table) => [table, partitionName(table, network)])
  return { network: NETWORK_CODE[network], ...Object.fromEntries(names) }
}

/** SQL: the journal entry with a number, for a lateral join. LIMIT stops the planner from joining whole tables. */
export const journalEntrySql = (l: PartitionNames, generation: string, seq: string): string =>
  `SELECT kind, chain, block, log_index, at_ms, actor, body, effects FROM ${l.journal}
   WHERE network = ${l.network} AND generation = ${generation} AND seq = ${seq} LIMIT 1`

/**
 * SQL: `version` is a text that changes with every public change of the network's registry, and with no private one:
 * otherwise a refreshed answer would reveal private changes. `facts_version` changes with the names that have
 * unconfirmed bids.
 */
export const registryVersionSql = (l: PartitionNames): string =>
  `SELECT concat_ws(' ', generation, feed_generation, public_seq) AS version, facts_version::text
   FROM journal_heads WHERE network = ${l.network}`

type Moving = Pick<PartitionNames, 'network' | 'moves'>

/**
 * SQL: true if the names of any cluster are moving. Evaluated once per statement. Almost always false, and then
 * look-ups read no row of the table of moves.
 */
const anyMoves = (l: Moving): string =>
  `(SELECT EXISTS (SELECT FROM ${l.moves} WHERE network = ${l.network}))`

/**
 * SQL: serial of the cluster that holds a name. `cluster` is the serial in the name's row. While the name moves, the
 * holder is the target of the move.
 */
export const nameHolderSql = (l: Moving, cluster: string): string =>
  `CASE WHEN ${anyMoves(l)} THEN coalesce((
    SELECT m.target FROM ${l.moves} m WHERE m.network = ${l.network} AND m.source = ${cluster}), ${cluster}) ELSE ${cluster} END`

/**
 * SQL: serials in the rows of all names that a cluster holds, as `cluster`: its own serial, unless its names are
 * leaving, and the serials of clusters whose names are moving to it.
 */
export const heldNamesSql = (l: Moving, cluster: string): string => `
  SELECT ${cluster} AS cluster WHERE NOT ${anyMoves(l)} OR NOT EXISTS (
    SELECT FROM ${l.moves} m WHERE m.network = ${l.network} AND m.source = ${cluster})
  UNION ALL SELECT m.source FROM ${l.moves} m WHERE ${anyMoves(l)} AND m.network = ${l.network} AND m.target = ${cluster}`
