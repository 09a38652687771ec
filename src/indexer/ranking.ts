import type pg from 'pg'
import { readAnswerVersions } from '../db/journal/head.js'
import { refreshRanking } from '../db/registry/ranking.js'
import type { Network } from '../registry/primitives/network.js'

/** A refresh that took t is followed by a pause of at least 20 t, so that it never takes more than a twentieth of a core. */
const PAUSE_FACTOR = 20

/**
 * Creates a function that ranks the clusters again, where public data changed since the last time and the last time
 * is long enough ago for its cost.
 */
export function createRankingRefresh(pool: pg.Pool, network: Network): () => Promise<void> {
  let ranked: string | null = null
  // by the monotonic clock
  let nextMs = 0
  return async () => {
    const startedMs = performance.now()
    if (startedMs < nextMs) return
    const { version } = await readAnswerVersions(pool, network)
    if (version === ranked) return
    await refreshRanking(pool, network)
    ranked = version
    nextMs = performance.now() + PAUSE_FACTOR * (performance.now() - startedMs)
  }
}
