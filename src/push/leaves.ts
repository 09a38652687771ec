import { readFollowedLog, type StoredLog } from '../db/journal/log.js'
import type { Queryable } from '../db/pg/rows.js'
import { beginningLeaf, leafWriter } from '../registry/log/leaf.js'
import { type Bundle, packBundle, TILE_WIDTH } from '../registry/log/tiles.js'
import type { Network } from '../registry/primitives/network.js'
import { readNumbered } from './feedReader.js'

/** A log, and the network that it is of. */
export type LogOfNetwork = Pick<StoredLog, 'generation' | 'origin'> & { network: Network }

/** Entries `from` to `to` of a log, written anew from the journal; null where their generation has ended. */
export async function readLeaves(
  db: Queryable,
  { network, generation, origin }: LogOfNetwork,
  { from, to }: { from: number; to: number },
): Promise<string[] | null> {
  const found = await readNumbered(db, network, { from: Math.max(1, from), to })
  if (found?.generation !== generation) return null
  const events = found.items.map(leafWriter(found.idOf))
  if (from > 0) return events
  const { previous } = await readFollowedLog(db, network)
  return [beginningLeaf(origin, previous), ...events]
}

/** Bytes of a bundle. @returns null as `readLeaves` */
export async function readBundle(
  db: Queryable,
  log: LogOfNetwork,
  { index, width }: Bundle,
): Promise<Uint8Array | null> {
  const from = index * TILE_WIDTH
  const leaves = await readLeaves(db, log, { from, to: from + width - 1 })
  return leaves && packBundle(leaves.map((leaf) => Buffer.from(leaf)))
}
