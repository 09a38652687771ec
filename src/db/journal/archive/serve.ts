import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import PQueue from 'p-queue'
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
/** Blocks of a page, each of which takes some 20 ms, at most: what is kept has room for them. */
const BLOCKS_AT_ONCE = 64
/** Pages that read files at the same time. */
const WALKS_AT_ONCE = 4

const kept = new LRUCache<string, { value: ArchiveIndex | ArchivedRow[]; bytes: number }>({
  maxSize: KEPT_BYTES,
  sizeCalculation: ({ bytes }) => bytes,
})
const walks = new PQueue({ concurrency: WALKS_AT_ONCE })
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

/** Entries of a stretch that have public events. */
export interface Found {
  rows: FeedRow[]
  /** Number of the event from which on the files have more, where they were read no further; null otherwise. */
  more: number | null
}

/** What belongs to a stretch in its order: `rows` of the table and, where it reaches them, those of the files. */
export async function withArchived(
  db: Queryable,
  network: Network,
  { part, query, rows }: { part: ArchivedPart; query: StretchQuery; rows: readonly FeedRow[] },
): Promise<Found> {
  const { order, first, floor, limit, events, from } = query
  const { archived } = part
  const isOldest = order === 'oldest'
  const start = isOldest ? Math.max(first ?? floor, floor) : (first ?? part.newest)
  // entries with a first event there or beyond are no more asked for; in newest order the first of them is
  const end = from ? (isOldest ? Number.POSITIVE_INFINITY : 0) : isOldest ? start + events : start - events
  if (limit === 0 || (isOldest ? start > archived : floor > archived)) return { rows: [...rows], more: null }
  const isWhole = () => !isOldest && (rows.length >= limit || (rows.at(-1)?.publicFirst ?? start + 1) <= end)
  if (isWhole()) return { rows: [...rows], more: null }
  const found: FeedRow[] = []
  const room = isOldest ? limit : limit - rows.length
  const more = await inFiles(db, network, part, async (archives, reading) => {
    for await (const row of entriesFrom(archives, { order, start, floor, from }, reading)) {
      if (isOldest ? row.publicFirst > end : row.publicFirst < floor) break
      found.push(row)
      if (found.length === room || (!isOldest && row.publicFirst <= end)) break
    }
    return reading.more
  })
  if (!isOldest) return { rows: [...rows, ...found], more }
  return { rows: more === null ? [...found, ...rows].slice(0, limit) : found, more }
}

/** Number of the first archived event at or after a time (ms); null without one. */
export async function archivedSince(
  db: Queryable,
  network: Network,
  part: ArchivedPart,
  sinceMs: number,
): Promise<number | null> {
  return inFiles(db, network, part, async (archives, reading) => {
    const at = archives.findIndex(({ lastMs, eventFirst, eventLast }) => lastMs >= sinceMs && eventLast >= eventFirst)
    if (at === -1) return null
    for await (const row of entriesFrom(archives.slice(at), { order: 'oldest', sinceMs }, reading))
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

/** Reading of files that is under way. */
interface Reading {
  /** Nobody waits for it any more. */
  isOver: boolean
  /** Blocks that were begun. */
  blocks: number
  more: number | null
}

/** Reads files in turn, within the time limit; what has passed it ends at the next block. @throws ArchiveAwayError */
async function inFiles<T>(
  db: Queryable,
  network: Network,
  part: ArchivedPart,
  read: (archives: readonly Archive[], reading: Reading) => Promise<T>,
): Promise<T> {
  const archives = await droppedOf(db, network, part)
  const late = Symbol('late')
  const reading: Reading = { isOver: false, blocks: 0, more: null }
  try {
    const answer = await inTime(
      LIMIT_MS,
      walks.add(() => read(archives, reading)),
      late,
    )
    if (answer === late) throw new BrokenArchiveError(`${folder} answers too late.`)
    return answer as T
  } catch (error) {
    noteFailure(error as Error)
    throw new ArchiveAwayError('archived entries can not be read', { cause: error })
  } finally {
    reading.isOver = true
  }
}

interface Walk {
  order: FeedOrder
  /** Number of the event from which on it goes. */
  start?: number
  /** Number of the event at which one that goes back in time ends. */
  floor?: number
  /** Actor whose entries alone are asked for; null for all. */
  from?: Buffer | null
  /** Leaves out blocks of entries before a time, ms. */
  sinceMs?: number
}

/** Archived entries with public events, in the order of a walk; of as many blocks as are read at once. */
async function* entriesFrom(
  archives: readonly Archive[],
  walk: Walk,
  reading: Reading,
): AsyncGenerator<ArchivedRow, void> {
  const { order, from = null } = walk
  const isOldest = order === 'oldest'
  const { start = isOldest ? 1 : Number.POSITIVE_INFINITY } = walk
  const isAsked = ({ publicCount, publicFirst, actor }: ArchivedRow) =>
    publicCount > 0 &&
    (isOldest ? publicFirst >= start : publicFirst <= start) &&
    (from === null || (actor?.equals(from) ?? from.equals(NOBODY)))
  for (const archive of isOldest ? archives : archives.toReversed()) {
    if (reading.isOver) return
    if (isOldest ? archive.eventLast < start : archive.eventFirst > start) continue
    for (const block of await blocksFor(archive, walk, start)) {
      if (reading.isOver) return
      if (reading.blocks++ === BLOCKS_AT_ONCE) {
        reading.more = isOldest ? block.event : block.eventEnd - 1
        return
      }
      const rows = (await rowsOf(archive, block)).filter(isAsked)
      yield* isOldest ? rows : rows.reverse()
    }
  }
}

async function blocksFor(archive: Archive, walk: Walk, start: number): Promise<Block[]> {
  const { order, from, sinceMs = 0, floor = 0 } = walk
  const index = await indexOf(archive)
  const path = pathOf(archive)
  const own = from ? await ArchiveFile.with(path, (file) => blocksOf(file, index.actors, from)) : null
  const blocks = own ? own.map((number) => index.blocks[number]!) : index.blocks
  const asked = blocks.filter(
    ({ event, eventEnd, lastMs }) =>
      eventEnd > event &&
      lastMs >= sinceMs &&
      (order === 'oldest' ? eventEnd > start : event <= start && eventEnd > floor),
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
