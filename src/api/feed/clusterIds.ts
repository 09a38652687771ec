import { readClusterIds } from '../../db/feed/feed.js'
import type { Queryable } from '../../db/pg/rows.js'
import type { Network } from '../../registry/primitives/network.js'

/** The cache is emptied when it holds more ids than this; an id takes some 150 bytes. */
const MAX_IDS = 20_000
/**
 * Lifetime of the cache. It limits how long a wrong id can live after a change that does not increase the feed's
 * generation.
 */
const KEPT_MS = 60_000

/**
 * Looks up hex ids of clusters by their serial numbers. The returned map may hold other clusters too. A missing serial
 * means that the feed has a newer generation.
 */
export type ClusterIdLookup = (
  db: Queryable,
  serials: readonly number[],
  generation: number,
) => Promise<ReadonlyMap<number, string>>

/**
 * Creates a cache of cluster ids for pages of the feed. A cluster keeps its id within one generation, and most
 * readers ask for the newest or the oldest events.
 */
export function createClusterIdCache(network: Network): ClusterIdLookup {
  let kept = { generation: 0, ids: new Map<number, string>(), untilMs: 0 }
  return async (db, serials, generation) => {
    const nowMs = performance.now()
    if (generation !== kept.generation || nowMs >= kept.untilMs || kept.ids.size > MAX_IDS)
      kept = { generation, ids: new Map(), untilMs: nowMs + KEPT_MS }
    const { ids } = kept
    const unknown = serials.filter((serial) => !ids.has(serial))
    for (const [serial, id] of await readClusterIds(db, network, unknown, generation))
      ids.set(serial, id)
    return ids
  }
}
