import type pg from 'pg'
import { type EntryKind, entryKind } from '../../../registry/journal/entry.js'
import type { Network } from '../../../registry/primitives/network.js'
import { leaf } from '../../pg/partitions.js'
import { query } from '../../pg/rows.js'
import { refuseArchived } from '../archive/archives.js'
import { foldTo, goOnFrom, type Refold, type RefoldOptions, withRefold } from '../replay.js'
import { entriesHash } from '../stateHash.js'

/** Numbers of entries, both included. */
export interface Range {
  from: number
  /** Default: the journal's last. */
  to?: number
}

export interface ReplayedRange extends Required<Range> {
  network: Network
  generation: number
  /** Number of the last entry of the snapshot that was gone on from, 0 where there is none. */
  base: number
  /** Hash over what the journal says of the range's entries (`entriesHash`), hex. */
  live: string
  /** The same of what the fold gives, hex. */
  rebuilt: string
  /** The first entry of the range of which the journal says something else than the fold, null where none is. */
  different: { seq: number; kind: EntryKind } | null
}

/**
 * Folds the entries of a range again, from the snapshot before it or from the first entry on, and compares numbers and
 * effects with the journal's. The daemon may run.
 * @throws Error with one sentence for a range that the journal does not have, or of which files alone have entries, or
 * when a rewind comes between
 */
export function replayRange(
  pool: pg.Pool,
  network: Network,
  { from, to: last, ...options }: Range & RefoldOptions,
): Promise<ReplayedRange> {
  return withRefold(pool, network, options, async (refold) => {
    const { reader, writer, generation, seq } = refold
    const to = last ?? seq
    if (from < 1 || from > to || to > seq)
      throw new Error(`the journal of ${network} has the entries 1 to ${seq}: name a range of these.`)
    const base = (await goOnFrom(refold, from - 1))?.seq ?? 0
    await refuseArchived(reader, network, base)
    await foldTo(refold, base, () => to)
    const numbers = { generation, after: from - 1, upTo: to }
    const live = await entriesHash(reader, network, numbers)
    const rebuilt = await entriesHash(writer, network, numbers)
    await refuseArchived(reader, network, base)
    const different = live === rebuilt ? null : await firstDifferent(refold, from, to)
    return { network, generation, from, to, base, live, rebuilt, different }
  })
}

async function firstDifferent({ writer, network, generation, schema }: Refold, from: number, to: number) {
  const journal = leaf('journal', network)
  const [row] = await query<{ seq: number; kind: number }>(
    writer,
    network,
    `SELECT j.seq, j.kind FROM public.${journal} j LEFT JOIN ${schema}.${journal} r USING (network, generation, seq)
     WHERE j.network = $1 AND j.generation = $2 AND j.seq BETWEEN $3 AND $4
       AND (r.public_first, r.public_count, r.effects) IS DISTINCT FROM (j.public_first, j.public_count, j.effects)
     ORDER BY j.seq LIMIT 1`,
    [generation, from, to],
  )
  return row ? { seq: row.seq, kind: entryKind(row.kind) } : null
}
