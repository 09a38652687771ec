import { NETWORK_CODE, NETWORKS, type Network } from '../../registry/primitives/network.js'
import {
  execute,
  type PreparedText,
  prepared,
  type Queryable,
  query,
  readRows,
  type Statement,
} from '../pg/rows.js'

export type PartitionedTable = 'journal' | StateTable

/** Partitioned tables that the fold makes of the journal. A replay or a rewind fills them anew. */
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

/**
 * Statement about one network, in one of two forms. A function gets the names of the network's partitions and returns
 * the text. That text is prepared for each network, so PostgreSQL plans it once per connection and does not search for
 * the partition. The text's values begin at `$1`. A statement that is no function has the network's code as `$1`, and
 * its values begin at `$2`.
 */
type NetworkStatement = Statement | ((partitions: PartitionNames) => string)

/** Makes a function that runs a statement with the given values and returns the rows. */
export function prepareStatement<Row, Values extends readonly unknown[] = unknown[]>(
  text: NetworkStatement,
) {
  if (typeof text !== 'function')
    return (db: Queryable, network: Network, ...values: Values): Promise<Row[]> =>
      query(db, network, text, values)
  const statements = Object.fromEntries(
    NETWORKS.map((network) => [network, prepared(text(partitionsOf(network)))]),
  ) as Record<Network, PreparedText>
  return (db: Queryable, network: Network, ...values: Values): Promise<Row[]> =>
    readRows(db, statements[network], values)
}

/** Like `prepareStatement`, for statements that return at most one row: the row, or null. */
export function prepareSingleRow<Row, Values extends readonly unknown[] = unknown[]>(
  text: NetworkStatement,
) {
  const read = prepareStatement<Row, Values>(text)
  return async (db: Queryable, network: Network, ...values: Values): Promise<Row | null> =>
    (await read(db, network, ...values))[0] ?? null
}

/** Like `prepareSingleRow`, for statements with one column: its value, or null. */
export function prepareSingleValue<Value, Values extends readonly unknown[] = unknown[]>(
  text: NetworkStatement,
) {
  const read = prepareSingleRow<Record<string, Value>, Values>(text)
  return async (db: Queryable, network: Network, ...values: Values): Promise<Value | null> =>
    Object.values((await read(db, network, ...values)) ?? {})[0] ?? null
}

/** Makes a function that runs a statement with the values of `$2` and up, and returns how many rows it changed. */
export const prepareCommand =
  <Values extends readonly unknown[] = []>(text: Statement) =>
  (db: Queryable, network: Network, ...values: Values): Promise<number> =>
    execute(db, network, text, values)

/** The code and the partition names of a network. */
export function partitionsOf(network: Network): PartitionNames {
  const tables = ['journal', ...STATE_TABLES] as const
  const names = tables.map((table) => [table, partitionName(table, network)])
  return { network: NETWORK_CODE[network], ...Object.fromEntries(names) }
}

/** SQL: the journal entry with a number, for a lateral join. LIMIT stops the planner from joining whole tables. */
export const journalEntrySql = (l: PartitionNames, generation: string, seq: string): string =>
  `SELECT kind, chain, block, log_index, at_ms, public_first, actor, body, effects FROM ${l.journal}
   WHERE network = ${l.network} AND generation = ${generation} AND seq = ${seq} LIMIT 1`
