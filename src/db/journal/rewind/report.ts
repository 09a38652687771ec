import type pg from 'pg'
import { BID_OUTCOME } from '../../../registry/journal/bid.js'
import { ENTRY_KIND, type EntryKind, entryKindOfCode } from '../../../registry/journal/entry.js'
import type { Network } from '../../../registry/primitives/network.js'
import { query } from '../../pg/rows.js'
import { liveSchemaName } from '../../pg/session.js'
import { partitionName } from '../partitions.js'
import { RETAINED_MESSAGES_SQL, type RewindTarget } from './rows.js'

/** The first rows of an ordered list, with the number of all its rows. */
export interface FirstRowsWithCount<T> {
  count: number
  first: readonly T[]
}

/** Changes that a rewind has made, or would make if it is not applied. */
export interface RewindReport {
  network: Network
  label: string
  block: number
  generation: { from: number; to: number }
  entries: { before: number; after: number }
  events: { before: number; after: number }
  /**
   * Names whose holder differs after the rewind, with the holders' ids in hex. Null where no cluster holds the name.
   */
  names: FirstRowsWithCount<{ name: string; from: string | null; to: string | null }>
  /** Signed changes that lost their effect, by seq in the old generation. */
  withoutEffect: FirstRowsWithCount<{ seq: number; kind: EntryKind }>
  /**
   * Messages that the rewind keeps although it drops their block on the spoke, since the hub has or may have received
   * them. By guid.
   */
  keptMessages: FirstRowsWithCount<{ guid: string }>
}

/** Maximum number of rows of each list in the report. */
const MAX_SAMPLE_ROWS = 50

interface RebuiltTables {
  /** Schema of the rebuilt tables. */
  schema: string
  /** Schema of the rebuilt journal: the live schema, or for a dry run `schema`. */
  journal: string
  /** The old generation. The rebuilt tables are of the next one. */
  generation: number
}

/** Reports what differs between the live tables and the rebuilt tables, at most `MAX_SAMPLE_ROWS` rows of each kind. */
export async function compareLiveWithRebuiltTables(
  client: pg.ClientBase,
  target: RewindTarget,
  tables: RebuiltTables,
): Promise<RewindReport> {
  const { row, block, isHub } = target
  const { network, chain, label } = row
  const { generation } = tables
  const sql = reportQueries(network, liveSchemaName(client), tables)
  const sample = async <T>(text: string, ...values: unknown[]): Promise<FirstRowsWithCount<T>> => {
    const counted = `SELECT s.*, count(*) OVER () AS n FROM (${text}) s LIMIT ${MAX_SAMPLE_ROWS}`
    const rows = await query<T & { n: number }>(client, network, counted, values)
    return { count: rows[0]?.n ?? 0, first: rows.map(({ n: _, ...one }) => one as T) }
  }
  const [head] = await query<HeadSequences>(client, network, sql.heads)
  const lost = await sample<{ seq: number; kind: number }>(sql.withoutEffect, chain, block)
  return {
    network,
    label,
    block,
    generation: { from: generation, to: generation + 1 },
    entries: { before: head!.seq, after: head!.newSeq },
    events: { before: head!.publicSeq, after: head!.newPublicSeq },
    names: await sample(sql.names),
    withoutEffect: {
      ...lost,
      first: lost.first.map(({ seq, kind }) => ({ seq, kind: entryKindOfCode(kind) })),
    },
    keptMessages: isHub ? { count: 0, first: [] } : await sample(sql.keptMessages, chain, block),
  }
}

/**
 * SQL condition: an entry `o` is a signed change. `move_names` entries are no signed changes, and have no effect once
 * no name is left to move.
 */
const IS_SIGNED_CHANGE_SQL = `o.chain IS NULL AND o.kind <> ${ENTRY_KIND.move_names}`

const hexSql = (column: string): string => `'0x' || encode(${column}, 'hex')`

type HeadSequences = Record<'seq' | 'publicSeq' | 'newSeq' | 'newPublicSeq', number>

/** SQL queries of the report. They compare clusters by id, since serials differ between generations. */
function reportQueries(
  network: Network,
  live: string,
  { schema, journal, generation }: RebuiltTables,
) {
  const former = (table: 'names' | 'clusters' | 'journal') =>
    `${live}.${partitionName(table, network)}`
  const rebuilt = (table: 'names' | 'clusters') => `${schema}.${partitionName(table, network)}`
  const namesByCluster = (names: string, clusters: string) =>
    `SELECT n.name, n.seq, c.id FROM ${names} n JOIN ${clusters} c ON c.network = $1 AND c.serial = n.cluster
     WHERE n.network = $1 AND n.outcome = ${BID_OUTCOME.won}`
  const before = namesByCluster(former('names'), former('clusters'))
  const after = namesByCluster(rebuilt('names'), rebuilt('clusters'))
  return {
    names: `SELECT coalesce(b.name, a.name) AS name, ${hexSql('b.id')} AS "from", ${hexSql('a.id')} AS "to"
      FROM (${before}) b
      FULL JOIN (${after}) a ON a.name = b.name WHERE a.id IS DISTINCT FROM b.id ORDER BY coalesce(b.seq, a.seq)`,
    heads: `SELECT h.seq, h.public_seq, n.seq AS new_seq, n.public_seq AS new_public_seq
      FROM ${live}.journal_heads h JOIN ${schema}.journal_heads n USING (network) WHERE h.network = $1`,
    keptMessages: `SELECT ${hexSql('m.guid')} AS guid FROM messages m WHERE ${RETAINED_MESSAGES_SQL} ORDER BY m.block, m.log_index`,
    // entries keep their order, so the n-th kept entry is entry n of the new generation
    withoutEffect: `SELECT o.seq, o.kind FROM (
        SELECT seq, kind, chain, effects, row_number() OVER (ORDER BY seq) AS new_seq FROM ${former('journal')}
        WHERE network = $1 AND generation = ${generation} AND NOT (chain IS NOT NULL AND chain = $2 AND block >= $3)) o
      JOIN ${journal}.${partitionName('journal', network)} n ON n.network = $1 AND n.generation = ${generation + 1} AND n.seq = o.new_seq
      WHERE ${IS_SIGNED_CHANGE_SQL} AND octet_length(o.effects) > 0 AND octet_length(n.effects) = 0 ORDER BY o.seq`,
  }
}
