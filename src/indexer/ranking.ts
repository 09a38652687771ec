import type pg from 'pg'
import { readAnswerVersions } from '../db/journal/head.js'
import { refreshRanking } from '../db/registry/ranking.js'
import type { Network } from '../registry/primitives/network.js'

/** Pause after a refresh, as a multiple of its time, so that refreshes take at most a twentieth of the time. */
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
    try {
      await refreshRanking(pool, network)
      ranked = version
    } finally {
      nextMs = performance.now() + PAUSE_FACTOR * (performance.now() - startedMs)
    }
  }
}
