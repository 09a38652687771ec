import { BID_OUTCOME } from '../../registry/journal/bid.js'
import type { PartitionNames } from '../journal/partitions.js'

type MovePartition = Pick<PartitionNames, 'network' | 'moves'>

/**
 * SQL: true if the names of any cluster are moving. PostgreSQL evaluates it once per statement. It is almost always
 * false, and then look-ups do not search the table of moves.
 */
const hasMovesSql = (l: MovePartition): string =>
  `(SELECT EXISTS (SELECT FROM ${l.moves} WHERE network = ${l.network}))`

/**
 * SQL: serial of the cluster that holds a name. `cluster` is the serial in the name's row. While the name moves, the
 * holder is the target of the move.
 */
export const nameHolderSql = (l: MovePartition, cluster: string): string =>
  `CASE WHEN ${hasMovesSql(l)} THEN coalesce((
    SELECT m.target FROM ${l.moves} m WHERE m.network = ${l.network} AND m.source = ${cluster}), ${cluster}) ELSE ${cluster} END`

/**
 * SQL: serial, as `cluster`, of the cluster that holds a name, given by an expression. No row where nobody holds it.
 */
export const holderOfNameSql = (
  l: MovePartition & Pick<PartitionNames, 'names'>,
  name: string,
): string =>
  `SELECT ${nameHolderSql(l, 'n.cluster')} AS cluster FROM ${l.names} n
   WHERE n.network = ${l.network} AND n.name = ${name} AND n.outcome = ${BID_OUTCOME.won} LIMIT 1`

/**
 * SQL: the serials, as `cluster`, under which the names that a cluster holds have their rows: its own serial, unless
 * its names are moving away, and the serials of clusters whose names are moving to it.
 */
export const serialsOfHeldNamesSql = (l: MovePartition, cluster: string): string => `
  SELECT ${cluster} AS cluster WHERE NOT ${hasMovesSql(l)} OR NOT EXISTS (
    SELECT FROM ${l.moves} m WHERE m.network = ${l.network} AND m.source = ${cluster})
  UNION ALL SELECT m.source FROM ${l.moves} m WHERE ${hasMovesSql(l)} AND m.network = ${l.network} AND m.target = ${cluster}`
