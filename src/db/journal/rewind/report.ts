import type pg from 'pg'
import { ENTRY_KIND } from '../../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import { leaf } from '../../pg/partitions.js'
import { query, readRows } from '../../pg/rows.js'
import { type RewindTarget, staying } from './rows.js'

/** Changes of a rewind, applied or not. */
export interface RewindReport {
  network: Network
  label: string
  block: number
  /** Old and new generation. */
  generation: { from: number; to: number }
  entries: { before: number; after: number }
  events: { before: number; after: number }
  /** Names of another cluster now, the first ones with its id and that before in hex; null where a name has none. */
  names: { count: number; first: readonly { name: string; from: string | null; to: string | null }[] }
  /** Signed changes that lost their effect. */
  withoutEffect: number
  /** Messages of a spoke that stay, since the hub has or may have received them. */
  staying: number
}

/** Names that are listed. */
const NAMES_AT_MOST = 50

interface Tables {
  /** Schema of the rebuilt tables. */
  schema: string
  /** Schema of the rebuilt journal. */
  journal: string
  generation: number
}

/** Compares the live tables with the rebuilt ones. */
export async function readReport(
  client: pg.ClientBase,
  { row: { network, chain, label }, block }: RewindTarget,
  { schema, journal, generation }: Tables,
): Promise<RewindReport> {
  const code = NETWORK_CODE[network]
  // serials differ between generations, so clusters are compared by id
  const holders = (of: string) => `
    SELECT n.name, n.seq, '0x' || encode(c.id, 'hex') AS id FROM ${of}.${leaf('names', network)} n
    JOIN ${of}.${leaf('clusters', network)} c ON c.network = ${code} AND c.serial = n.cluster
    WHERE n.network = ${code} AND n.outcome = 1`
  const names = await readRows<{ count: number; name: string; from: string | null; to: string | null }>(
    client,
    `SELECT count(*) OVER () AS count, coalesce(b.name, a.name) AS name, b.id AS "from", a.id AS "to"
     FROM (${holders('public')}) b FULL JOIN (${holders(schema)}) a ON a.name = b.name
     WHERE a.id IS DISTINCT FROM b.id ORDER BY coalesce(b.seq, a.seq) LIMIT ${NAMES_AT_MOST}`,
  )
  // kept entries keep their order: the n-th is entry n of the new generation; slices of moves are no signed changes
  const withoutEffect = `SELECT count(*) FROM (
      SELECT kind, chain, effects, row_number() OVER (ORDER BY seq) AS new_seq FROM public.${leaf('journal', network)}
      WHERE network = $1 AND generation = ${generation} AND NOT (chain IS NOT NULL AND chain = $2 AND block >= $3)) o
    JOIN ${journal}.${leaf('journal', network)} n ON n.network = $1 AND n.generation = ${generation + 1} AND n.seq = o.new_seq
    WHERE o.chain IS NULL AND o.kind <> ${ENTRY_KIND.move_names}
      AND octet_length(o.effects) > 0 AND octet_length(n.effects) = 0`
  const [counts] = await query<Counts>(
    client,
    network,
    `SELECT h.seq, h.public_seq, n.seq AS new_seq, n.public_seq AS new_public_seq, (${withoutEffect}) AS without_effect,
       (SELECT count(*) FROM messages m WHERE ${staying}) AS staying
     FROM public.journal_heads h JOIN ${schema}.journal_heads n USING (network) WHERE h.network = $1`,
    [chain, block],
  )
  const { seq, newSeq, publicSeq, newPublicSeq, ...numbers } = counts!
  return {
    ...{ network, label, block, ...numbers },
    generation: { from: generation, to: generation + 1 },
    entries: { before: seq, after: newSeq },
    events: { before: publicSeq, after: newPublicSeq },
    names: { count: names[0]?.count ?? 0, first: names.map(({ name, from, to }) => ({ name, from, to })) },
  }
}

type Counts = Record<'seq' | 'publicSeq' | 'newSeq' | 'newPublicSeq' | 'withoutEffect' | 'staying', number>
