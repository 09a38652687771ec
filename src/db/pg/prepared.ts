import { NETWORK_CODE, NETWORKS, type Network } from '../../registry/primitives/network.js'
import { leaf, type PartitionedTable, STATE_TABLES } from './partitions.js'
import { type Queryable, readRows } from './rows.js'

/** Parts of a statement's text: a network's code and, by table, the names of its partitions. */
export type Leaves = { network: number } & Record<PartitionedTable, string>

export type Prepared<Row> = (
  db: Queryable,
  network: Network,
  values: readonly unknown[],
) => Promise<Row[]>

/**
 * A named statement per network, with that network's partitions in its text: PostgreSQL parses and plans it once per
 * connection and routes through no partitions. Names are prefixed, since writers may share the connection.
 */
export function prepare<Row>(name: string, text: (leaves: Leaves) => string): Prepared<Row> {
  const statements = Object.fromEntries(
    NETWORKS.map((network) => [
      network,
      { name: `read_${name}_${network}`, text: text(leavesOf(network)) },
    ]),
  ) as Record<Network, { name: string; text: string }>
  return (db, network, values) => readRows<Row>(db, statements[network], values)
}

/** At most one row, else null; parameters are the function's. */
export function prepareOne<Row, Values extends readonly unknown[]>(
  name: string,
  text: (leaves: Leaves) => string,
) {
  const read = prepare<Row>(name, text)
  return async (db: Queryable, network: Network, ...values: Values): Promise<Row | null> =>
    (await read(db, network, values))[0] ?? null
}

function leavesOf(network: Network): Leaves {
  const tables = ['journal', ...STATE_TABLES] as const
  const names = tables.map((table) => [table, leaf(table, network)])
  return { network: NETWORK_CODE[network], ...Object.fromEntries(names) }
}

/** Journal entry of a number, for a lateral join. The limit keeps whole tables from being joined. */
export const entryAt = (l: Leaves, generation: string, seq: string): string =>
  `SELECT kind, chain, block, log_index, at_ms, actor, body, effects FROM ${l.journal}
   WHERE network = ${l.network} AND generation = ${generation} AND seq = ${seq} LIMIT 1`

/**
 * `version`: a text that every public change of the network's registry changes, each of which has an event, and no
 * private one: that answers are read again would tell when those come. `facts_version`: one that a change of the names
 * with unconfirmed bids changes.
 */
export const versionOf = (l: Leaves): string =>
  `SELECT concat_ws(' ', generation, feed_generation, public_seq) AS version, facts_version::text
   FROM journal_heads WHERE network = ${l.network}`

type Moving = Pick<Leaves, 'network' | 'moves'>

/** Says whether any cluster moves, asked once a statement: nearly always none does, and look-ups spare their probes. */
const anyMoves = (l: Moving): string =>
  `(SELECT EXISTS (SELECT FROM ${l.moves} WHERE network = ${l.network}))`

/** Serial of the cluster that holds a name, by the name's row: the target, while the name moves. */
export const holderOf = (l: Moving, cluster: string): string =>
  `CASE WHEN ${anyMoves(l)} THEN coalesce((
    SELECT m.target FROM ${l.moves} m WHERE m.network = ${l.network} AND m.source = ${cluster}), ${cluster}) ELSE ${cluster} END`

/** Serials in the rows of the names that a cluster holds, as `cluster`: its own, unless they leave, and a source's. */
export const rowsHeldBy = (l: Moving, cluster: string): string => `
  SELECT ${cluster} AS cluster WHERE NOT ${anyMoves(l)} OR NOT EXISTS (
    SELECT FROM ${l.moves} m WHERE m.network = ${l.network} AND m.source = ${cluster})
  UNION ALL SELECT m.source FROM ${l.moves} m WHERE ${anyMoves(l)} AND m.network = ${l.network} AND m.target = ${cluster}`
