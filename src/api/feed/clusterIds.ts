import { readClusterIds } from '../../db/journal/feed.js'
import type { Queryable } from '../../db/pg/rows.js'
import type { Network } from '../../registry/primitives/network.js'

/** Ids from which on none of them is kept any longer, of some 150 bytes each. */
const MAX_IDS = 20_000
/** Bound on what anything that goes past the feed's number could keep wrong. */
const KEPT_MS = 60_000

/** Hex, by serial, among others; where one is missing the generation has ended. */
export type ClusterIds = (
  db: Queryable,
  serials: readonly number[],
  generation: number,
) => Promise<ReadonlyMap<number, string>>

/**
 * Creates the memory of a network's ids for pages of the feed: within one generation a cluster keeps its id, and those
 * of the newest events, as those of the first, are asked for by all who walk there.
 */
export function createClusterIds(network: Network): ClusterIds {
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
