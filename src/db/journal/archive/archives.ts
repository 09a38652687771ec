import type { Network } from '../../../registry/primitives/network.js'
import { leaf } from '../../pg/partitions.js'
import { execute, type Queryable, query } from '../../pg/rows.js'

/** A partition of the generation in force that a file has, whole and compared with the table. */
export interface Archive {
  generation: number
  /** Numbers of its first and its last entry. */
  seqFirst: number
  seqLast: number
  /** Numbers of its first and its last event; the last is one below the first where it has none. */
  eventFirst: number
  eventLast: number
  /** Time of its last entry, ms. */
  lastMs: number
  /** Name in the folder of archives. */
  file: string
  /** SHA-256 of the file, and of its index. */
  fileHash: Buffer
  indexHash: Buffer
  bytes: number
  writtenMs: number
  /** Since when the table lacks entries that the file has, ms; null while it has all of them. */
  droppedMs: number | null
}

const COLUMNS = `a.generation, a.seq_first, a.seq_last, a.event_first, a.event_last, a.last_ms, a.file, a.file_hash, a.index_hash,
  a.bytes, a.written_ms, a.dropped_ms`
const CURRENT = `FROM journal_heads h JOIN archives a ON a.network = h.network AND a.generation = h.generation`
const NOW_MS = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::int8'

/** The archives of a network's generation in force, in the order of the journal. */
export const readArchives = (db: Queryable, network: Network): Promise<Archive[]> =>
  query<Archive>(db, network, `SELECT ${COLUMNS} ${CURRENT} WHERE h.network = $1 ORDER BY a.seq_first`)

/**
 * The dropped archives of the generation that a number of the feed stands for, in the order of the journal: always the
 * first entries, without a gap. None where that number has ended.
 */
export const readDropped = (db: Queryable, network: Network, feed: number): Promise<Archive[]> =>
  query<Archive>(
    db,
    network,
    `SELECT ${COLUMNS} ${CURRENT} WHERE h.network = $1 AND h.feed_generation = $2 AND a.dropped_ms IS NOT NULL ORDER BY a.seq_first`,
    [feed],
  )

/**
 * Number of the last event that the table of a network's journal lacks, as a part of a statement about its head `h`;
 * null without one. Read with entries in one statement, it says of the same moment what is missing among them.
 */
export const ARCHIVED_EVENTS = `(SELECT max(a.event_last) FROM archives a
  WHERE a.network = h.network AND a.generation = h.generation AND a.dropped_ms IS NOT NULL)`

/** Stores an archive that was written, or written again. */
export async function keepArchive(
  db: Queryable,
  network: Network,
  archive: Omit<Archive, 'writtenMs' | 'droppedMs'>,
): Promise<void> {
  const { generation, seqFirst, seqLast, eventFirst, eventLast, lastMs, file, fileHash, indexHash, bytes } = archive
  await execute(
    db,
    network,
    `INSERT INTO archives (network, generation, seq_first, seq_last, event_first, event_last, last_ms, file, file_hash, index_hash, bytes, written_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${NOW_MS})
     ON CONFLICT (network, generation, seq_first) DO UPDATE SET file = excluded.file, file_hash = excluded.file_hash,
       index_hash = excluded.index_hash, bytes = excluded.bytes, written_ms = excluded.written_ms`,
    [generation, seqFirst, seqLast, eventFirst, eventLast, lastMs, file, fileHash, indexHash, bytes],
  )
}

/** Marks an archive of the generation in force as dropped, or as restored. @throws Error where a rewind came between */
export async function markArchive(
  db: Queryable,
  network: Network,
  { generation, seqFirst }: Archive,
  isDropped: boolean,
): Promise<void> {
  const text = `UPDATE archives a SET dropped_ms = ${isDropped ? NOW_MS : 'NULL'} FROM journal_heads h
    WHERE h.network = $1 AND h.generation = $2 AND a.network = $1 AND a.generation = $2 AND a.seq_first = $3`
  if ((await execute(db, network, text, [generation, seqFirst])) !== 1)
    throw new Error(`generation ${generation} of ${network} has ended meanwhile: run it again.`)
}

/** Number of the last entry of a network that only a file has, 0 without one. */
export async function lastArchived(db: Queryable, network: Network): Promise<number> {
  const text = `SELECT coalesce(max(a.seq_last), 0) AS seq ${CURRENT} WHERE h.network = $1 AND a.dropped_ms IS NOT NULL`
  return (await query<{ seq: number }>(db, network, text))[0]!.seq
}

/**
 * Keeps partitions of a journal from being dropped or restored until the transaction ends. It is to come first: a
 * snapshot from before a switch sees nothing of the table after it.
 */
export const keepJournal = (db: Queryable, network: Network): Promise<unknown> =>
  db.query(`LOCK TABLE ONLY public.${leaf('journal', network)} IN ACCESS SHARE MODE`)

/** @throws Error with the command that helps where entries of a network behind one are in files alone */
export async function refuseArchived(db: Queryable, network: Network, after = 0): Promise<void> {
  const last = await lastArchived(db, network)
  if (last > after)
    throw new Error(
      `entries of ${network} up to ${last} are archived: bring them back with \`clusterd archive --restore\` first.`,
    )
}
