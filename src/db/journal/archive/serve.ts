import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { inTime } from '../../../ops/notify.js'
import type { FeedRow } from '../../../registry/journal/events.js'
import { NOBODY } from '../../../registry/primitives/address.js'
import type { Network } from '../../../registry/primitives/network.js'
import type { Queryable } from '../../pg/rows.js'
import { blocksOf } from './actors.js'
import { type Archive, readDropped } from './archives.js'
import { ArchiveFile, type ArchiveIndex, type Block, BrokenArchiveError } from './file.js'
import { type ArchivedRow, entriesOf } from './rows.js'

export type FeedOrder = 'oldest' | 'newest'

/** What is read of a feed: entries with public events, by the numbers of their first events. */
export interface StretchQuery {
  order: FeedOrder
  /** Number of the first event of the entry to begin with, inclusive; null in newest order: the head. */
  first: number | null
  /** Lowest such number. */
  floor: number
  /** Maximum of entries. */
  limit: number
  /** Events from the position on that are asked for; entries beyond are left out where all actors are asked for. */
  events: number
  /** Stored address of the actor, null for all. */
  from: Buffer | null
}

/** Where a walk stands among the files: the number of the feed, of its newest event, and of the last archived one. */
export interface ArchivedPart {
  generation: number
  newest: number
  archived: number
}

/** Thrown where entries can't be read from the files; its message and its cause are for the operator alone. */
export class ArchiveAwayError extends Error {
  override name = 'ArchiveAwayError'
}

/** Thrown where the archive changed between two statements: what was read of the table does not fit. */
export class ArchiveMovedError extends Error {
  override name = 'ArchiveMovedError'
}

/** Time for which a page is waited for. */
const LIMIT_MS = 5_000
/** Unpacked blocks and indexes that are kept, bytes, by their hashes. */
const KEPT_BYTES = 32 << 20

const kept = new LRUCache<string, { value: ArchiveIndex | ArchivedRow[]; bytes: number }>({
  maxSize: KEPT_BYTES,
  sizeCalculation: ({ bytes }) => bytes,
})
let folder: string | null = null
let noteFailure = (_error: Error): void => {}

/**
 * Lets this process answer from the files of a folder; null for none.
 * @param onFailure called with what kept it from reading a file, which names the file
 */
export function serveArchives(dir: string | null, onFailure: (error: Error) => void = () => {}): void {
  folder = dir
  noteFailure = onFailure
  kept.clear()
}

/** What belongs to a stretch in its order: `rows` of the table and, where it reaches them, those of the files. */
export async function withArchived(
  db: Queryable,
  network: Network,
  { part, query, rows }: { part: ArchivedPart; query: StretchQuery; rows: readonly FeedRow[] },
): Promise<FeedRow[]> {
  const { order, first, floor, limit, events, from } = query
  const { archived } = part
  const isOldest = order === 'oldest'
  const start = isOldest ? Math.max(first ?? floor, floor) : (first ?? part.newest)
  // entries with a first event there or beyond are no more asked for; in newest order the first of them is
  const end = from ? (isOldest ? Number.POSITIVE_INFINITY : 0) : isOldest ? start + events : start - events
  if (limit === 0 || (isOldest ? start > archived : floor > archived)) return [...rows]
  const isWhole = () => !isOldest && (rows.length >= limit || (rows.at(-1)?.publicFirst ?? start + 1) <= end)
  if (isWhole()) return [...rows]
  const found: FeedRow[] = []
  const room = isOldest ? limit : limit - rows.length
  await inFiles(db, network, part, async (archives) => {
    for await (const row of entriesFrom(archives, { order, start, from })) {
      if (isOldest ? row.publicFirst > end : row.publicFirst < floor) break
      found.push(row)
      if (found.length === room || (!isOldest && row.publicFirst <= end)) break
    }
  })
  return isOldest ? [...found, ...rows].slice(0, limit) : [...rows, ...found]
}

/** Number of the first archived event at or after a time (ms); null without one. */
export async function archivedSince(
  db: Queryable,
  network: Network,
  part: ArchivedPart,
  sinceMs: number,
): Promise<number | null> {
  return inFiles(db, network, part, async (archives) => {
    const at = archives.findIndex(({ lastMs, eventFirst, eventLast }) => lastMs >= sinceMs && eventLast >= eventFirst)
    if (at === -1) return null
    for await (const row of entriesFrom(archives.slice(at), { order: 'oldest', sinceMs }))
      if (row.atMs >= sinceMs) return row.publicFirst
    return null
  })
}

async function droppedOf(db: Queryable, network: Network, { generation, archived }: ArchivedPart): Promise<Archive[]> {
  const dropped = await readDropped(db, network, generation)
  if (Math.max(0, ...dropped.map(({ eventLast }) => eventLast)) !== archived)
    throw new ArchiveMovedError(`the archive of ${network} changed while it was read`)
  return dropped
}

/** Reads files within the time limit. @throws ArchiveAwayError */
async function inFiles<T>(
  db: Queryable,
  network: Network,
  part: ArchivedPart,
  read: (archives: readonly Archive[]) => Promise<T>,
): Promise<T> {
  const archives = await droppedOf(db, network, part)
  const late = Symbol('late')
  try {
    const answer = await inTime(LIMIT_MS, read(archives), late)
    if (answer === late) throw new BrokenArchiveError(`${folder} answers too late.`)
    return answer as T
  } catch (error) {
    noteFailure(error as Error)
    throw new ArchiveAwayError('archived entries can not be read', { cause: error })
  }
}

interface Walk {
  order: FeedOrder
  /** Number of the event from which on it goes. */
  start?: number
  /** Actor whose entries alone are asked for; null for all. */
  from?: Buffer | null
  /** Leaves out blocks of entries before a time, ms. */
  sinceMs?: number
}

/** Archived entries with public events, in the order of a walk. */
async function* entriesFrom(archives: readonly Archive[], walk: Walk): AsyncGenerator<ArchivedRow> {
  const { order, from = null } = walk
  const isOldest = order === 'oldest'
  const { start = isOldest ? 1 : Number.POSITIVE_INFINITY } = walk
  const isAsked = ({ publicCount, publicFirst, actor }: ArchivedRow) =>
    publicCount > 0 &&
    (isOldest ? publicFirst >= start : publicFirst <= start) &&
    (from === null || (actor?.equals(from) ?? from.equals(NOBODY)))
  for (const archive of isOldest ? archives : archives.toReversed()) {
    if (isOldest ? archive.eventLast < start : archive.eventFirst > start) continue
    for (const block of await blocksFor(archive, walk, start)) {
      const rows = (await rowsOf(archive, block)).filter(isAsked)
      yield* isOldest ? rows : rows.reverse()
    }
  }
}

async function blocksFor(archive: Archive, { order, from, sinceMs = 0 }: Walk, start: number): Promise<Block[]> {
  const index = await indexOf(archive)
  const path = pathOf(archive)
  const own = from ? await ArchiveFile.with(path, (file) => blocksOf(file, index.actors, from)) : null
  const blocks = own ? own.map((number) => index.blocks[number]!) : index.blocks
  const asked = blocks.filter(
    ({ event, eventEnd, lastMs }) =>
      eventEnd > event && lastMs >= sinceMs && (order === 'oldest' ? eventEnd > start : event <= start),
  )
  return order === 'oldest' ? asked : asked.reverse()
}

function pathOf({ file }: Archive): string {
  if (folder === null) throw new BrokenArchiveError(`${file} is asked for: set ARCHIVE_DIR to the folder that has it.`)
  return join(folder, file)
}

async function indexOf(archive: Archive): Promise<ArchiveIndex> {
  const key = archive.indexHash.toString('hex')
  const known = kept.get(key)
  if (known) return known.value as ArchiveIndex
  const { index, indexHash } = await ArchiveFile.with(pathOf(archive), (file) => file.index())
  if (!indexHash.equals(archive.indexHash))
    throw new BrokenArchiveError(`${pathOf(archive)} is not the file that was written: put that one back from a copy.`)
  kept.set(key, { value: index, bytes: JSON.stringify(index).length })
  return index
}

async function rowsOf(archive: Archive, block: Block): Promise<ArchivedRow[]> {
  const known = kept.get(block.sha256)
  if (known) return known.value as ArchivedRow[]
  const path = pathOf(archive)
  const { columns } = await indexOf(archive)
  const rows = entriesOf(columns, await ArchiveFile.with(path, (file) => file.read(block)))
  kept.set(block.sha256, { value: rows, bytes: block.plain })
  return rows
}
