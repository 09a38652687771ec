import { readEvidenceEntries } from '../db/feed/evidence.js'
import {
  readTiles,
  readTransparencyLogState,
  type StoredTransparencyLog,
} from '../db/feed/transparencyLog.js'
import type { Queryable } from '../db/pg/rows.js'
import { mapWithoutBlocking, type WaitForEventLoopTurn } from '../ops/turns.js'
import {
  type LogPlace,
  NETWORKS,
  type Network,
  networkOfLog,
} from '../registry/primitives/network.js'
import { beginningLeaf } from '../registry/transparencyLog/beginning.js'
import { sha256TreeHasher } from '../registry/transparencyLog/hash.js'
import { createLeafWriter } from '../registry/transparencyLog/leaf.js'
import {
  concatHashes,
  type EntryBundle,
  packBundle,
  TILE_WIDTH,
  tileKey,
} from '../registry/transparencyLog/tiles.js'
import { isSameHash } from '../registry/transparencyLog/tree.js'
import { readEventRange, readFeedItems } from './feedReader.js'

/** Number of log leaves serialized or hashed before other requests are served: some tenths of a millisecond. */
const LEAVES_PER_PART = 64
const NO_WAIT: WaitForEventLoopTurn = async () => {}

/**
 * Which log: its name (`origin`), generation, and `network` (`mainnet` for the log of the feed, `mainnet/evidence` for
 * the log of evidence).
 */
export type NetworkTransparencyLog = Pick<StoredTransparencyLog, 'generation' | 'origin'> & {
  network: LogPlace
}

/**
 * Reads leaves `from` to `to` (inclusive) of a transparency log from the journal or the stored evidence. Null where the
 * log's generation has ended.
 */
export async function readLogLeaves(
  db: Queryable,
  { network, generation, origin }: NetworkTransparencyLog,
  { from, to }: { from: number; to: number },
  waitForLoop = NO_WAIT,
): Promise<string[] | null> {
  const range = { from: Math.max(1, from), to }
  const events = isFeed(network)
    ? await readEventLeaves(db, network, generation, range, waitForLoop)
    : await readEvidenceEntries(db, networkOfLog(network), generation, range)
  if (!events || from > 0) return events
  const { previous, generation: now } = await readTransparencyLogState(db, network)
  if (now !== generation) return null
  return [beginningLeaf(origin, previous), ...events]
}

const isFeed = (place: LogPlace): place is Network => NETWORKS.some((network) => network === place)

async function readEventLeaves(
  db: Queryable,
  network: Network,
  generation: number,
  range: { from: number; to: number },
  waitForLoop: WaitForEventLoopTurn,
): Promise<string[] | null> {
  const page = await readEventRange(db, network, range)
  if (page?.generation !== generation) return null
  return mapWithoutBlocking(waitForLoop, page.items, createLeafWriter(page.idOf), LEAVES_PER_PART)
}

/** Number of journal entries, or of pieces of evidence, whose leaves one read returns: some ten ms of work. */
const MAX_ENTRIES_PER_READ = 256

/**
 * Reads the next leaves of a transparency log, none where the log has all of them.
 * @param first index of the first leaf, at least 1: leaf 0, which begins the log, is not in the database
 * @returns null where the log's generation has ended
 * @throws Error where an event is missing
 */
export async function readNextLeaves(
  db: Queryable,
  place: LogPlace,
  generation: number,
  first: number,
): Promise<string[] | null> {
  const limit = MAX_ENTRIES_PER_READ
  if (!isFeed(place))
    return readEvidenceEntries(db, networkOfLog(place), generation, {
      from: first,
      to: first + limit - 1,
    })
  const page = await readFeedItems(db, place, { first, limit })
  if (page?.generation !== generation) return null
  const wrong = page.items.find(({ number }, i) => number !== first + i)
  if (wrong) throw new Error(`the journal has event ${wrong.number} where ${first} and on follow`)
  return page.items.map(createLeafWriter(page.idOf))
}

/**
 * Reads the bytes of an entry bundle. The bytes are checked against the hashes in the log's tile.
 * @returns null where the log's generation has ended, or has no such tile
 * @throws Error where the hashes differ: caches would store a wrong bundle for ever
 */
export async function readEntryBundle(
  db: Queryable,
  log: NetworkTransparencyLog,
  { index, width }: EntryBundle,
  waitForLoop = NO_WAIT,
): Promise<Uint8Array | null> {
  const from = index * TILE_WIDTH
  const tile = { level: 0, index, width }
  const [leaves, tiles] = await Promise.all([
    readLogLeaves(db, log, { from, to: from + width - 1 }, waitForLoop),
    readTiles(db, log.network, log.generation, [tile]),
  ])
  const hashes = tiles.get(tileKey(tile))
  if (!leaves || !hashes) return null
  const entries = leaves.map((leaf) => Buffer.from(leaf))
  const made = await mapWithoutBlocking(
    waitForLoop,
    entries,
    (entry) => sha256TreeHasher.leaf(entry),
    LEAVES_PER_PART,
  )
  if (!isSameHash(concatHashes(made), hashes))
    throw new Error(`the entries from ${from} on of the log ${log.origin} do not make its tile`)
  return packBundle(entries)
}
