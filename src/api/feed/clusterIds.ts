import { LRUCache } from 'lru-cache'
import { readClusterIds } from '../../db/journal/feed.js'
import type { Queryable } from '../../db/pg/rows.js'
import type { Network } from '../../registry/primitives/network.js'

/** Some 150 bytes each. */
const MAX_IDS = 20_000
/** Bound on what anything that goes past the feed's number could keep wrong. */
const KEPT_MS = 60_000

/** Finds public ids of clusters, hex, by serial; an id that is missing tells that the generation has ended. */
export type ClusterIds = (db: Queryable, serials: readonly number[], generation: number) => Promise<Map<number, string>>

/**
 * Creates the memory of a network's ids for pages of the feed: within one generation a cluster keeps its id, and those
 * of the newest events, as those of the first, are asked for by all who walk there.
 */
export function createClusterIds(network: Network): ClusterIds {
  const kept = new LRUCache<number, string>({ max: MAX_IDS, ttl: KEPT_MS })
  let of = 0
  return async (db, serials, generation) => {
    if (generation !== of) kept.clear()
    of = generation
    const found = new Map<number, string>()
    const unknown: number[] = []
    for (const serial of serials) {
      const id = kept.get(serial)
      if (id === undefined) unknown.push(serial)
      else found.set(serial, id)
    }
    for (const [serial, id] of await readClusterIds(db, network, unknown, generation)) {
      found.set(serial, id)
      // another page may have met another generation meanwhile
      if (generation === of) kept.set(serial, id)
    }
    return found
  }
}
