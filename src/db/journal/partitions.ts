import { NETWORK_CODE, NETWORKS, type Network } from '../../registry/primitives/network.js'
import { type PreparedText, prepared, type Queryable, readRows } from '../pg/rows.js'

export type PartitionedTable = 'journal' | StateTable

/** Partitioned tables that the fold fills. */
export const STATE_TABLES = [
  'names',
  'clusters',
  'wallets',
  'communities',
  'community_names',
  'moves',
] as const
export type StateTable = (typeof STATE_TABLES)[number]

/**
 * Name of a network's partition of a table. Writers name the partition itself, so that COPY and plans need no routing.
 * A replay has partitions of the same names in its own schema.
 */
export const partitionName = (table: PartitionedTable, network: Network): string =>
  `${table}_${network}`

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
    NETWORKS.map((network) => [network, prepared(text(partitionsOf(network)))]),
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

/** Values for statements about one network. */
export function partitionsOf(network: Network): PartitionNames {
  const tables = ['journal', ...STATE_TABLES] as const
  const names = tables.map((table) => [table, partitionName(table, network)])
  return { network: NETWORK_CODE[network], ...Object.fromEntries(names) }
}

/** SQL: the journal entry with a number, for a lateral join. LIMIT stops the planner from joining whole tables. */
export const journalEntrySql = (l: PartitionNames, generation: string, seq: string): string =>
  `SELECT kind, chain, block, log_index, at_ms, public_first, actor, body, effects FROM ${l.journal}
   WHERE network = ${l.network} AND generation = ${generation} AND seq = ${seq} LIMIT 1`
