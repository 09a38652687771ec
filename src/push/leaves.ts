import { readFeedLogState, readTiles, type StoredFeedLog } from '../db/feed/log.js'
import type { Queryable } from '../db/pg/rows.js'
import { mapWithoutBlocking, type WaitForEventLoopTurn } from '../ops/turns.js'
import { beginningLeaf } from '../registry/log/beginning.js'
import { sha256TreeHasher } from '../registry/log/hash.js'
import { leafWriter } from '../registry/log/leaf.js'
import {
  concatHashes,
  type EntryBundle,
  packBundle,
  TILE_WIDTH,
  tileKey,
} from '../registry/log/tiles.js'
import { isSameHash } from '../registry/log/tree.js'
import type { Network } from '../registry/primitives/network.js'
import { readEventRange } from './feedReader.js'

/** Number of log leaves serialized or hashed per iteration of the event loop: some tenths of a millisecond. */
const LEAVES_A_TURN = 64
const NO_TURN: WaitForEventLoopTurn = async () => {}

/** Name and generation of a feed's signed log, and its network. */
export type NetworkFeedLog = Pick<StoredFeedLog, 'generation' | 'origin'> & { network: Network }

/** Serializes entries `from` to `to` of a log from the journal; null where the log's generation has ended. */
export async function readLogLeaves(
  db: Queryable,
  { network, generation, origin }: NetworkFeedLog,
  { from, to }: { from: number; to: number },
  turn = NO_TURN,
): Promise<string[] | null> {
  const found = await readEventRange(db, network, { from: Math.max(1, from), to })
  if (found?.generation !== generation) return null
  const events = await mapWithoutBlocking(turn, found.items, leafWriter(found.idOf), LEAVES_A_TURN)
  if (from > 0) return events
  const { previous } = await readFeedLogState(db, network)
  return [beginningLeaf(origin, previous), ...events]
}

/**
 * Reads the bytes of an entry bundle, which are checked against the hashes in the log's tile.
 * @returns null where the log's generation has ended, or has no such tile
 * @throws Error where the hashes differ: caches would store a wrong bundle for ever
 */
export async function readEntryBundle(
  db: Queryable,
  log: NetworkFeedLog,
  { index, width }: EntryBundle,
  turn = NO_TURN,
): Promise<Uint8Array | null> {
  const from = index * TILE_WIDTH
  const tile = { level: 0, index, width }
  const [leaves, tiles] = await Promise.all([
    readLogLeaves(db, log, { from, to: from + width - 1 }, turn),
    readTiles(db, log.network, log.generation, [tile]),
  ])
  const hashes = tiles.get(tileKey(tile))
  if (!leaves || !hashes) return null
  const entries = leaves.map((leaf) => Buffer.from(leaf))
  const made = await mapWithoutBlocking(
    turn,
    entries,
    (entry) => sha256TreeHasher.leaf(entry),
    LEAVES_A_TURN,
  )
  if (!isSameHash(concatHashes(made), hashes))
    throw new Error(`the entries from ${from} on of the log ${log.origin} do not make its tile`)
  return packBundle(entries)
}
