import { appendToSqlFeedCopy, readSqlFeedCopy } from '../db/feed/feed.js'
import type { LeaderContext } from '../ops/context.js'
import type { Worker } from '../ops/worker.js'
import { readSerializedEvents } from './feedReader.js'

/** About 10 ms of work. */
const MAX_ENTRIES_PER_STEP = 256
/**
 * Pause after every two steps, ms, so that a catch-up of the SQL tables leaves most of the process's time to the
 * indexer. The tables then grow by about 5,000 entries a second.
 */
const PAUSE_MS = 100
const IDLE_PAUSE_MS = 1_000

/**
 * Copies new events of a network's feed into the tables for SQL readers, in steps, after the first catch-up of the
 * hub (in a mirror, from the beginning). When the feed restarts, the tables are filled anew. Readers see the old rows
 * until the new rows are complete.
 */
export function createSqlFeedCopyWorker(
  ctx: Pick<LeaderContext, 'network' | 'pool' | 'epoch'>,
): Worker {
  const { pool, network } = ctx
  return {
    name: 'the events of SQL',
    fields: { network },
    pollMs: PAUSE_MS,
    idleMs: IDLE_PAUSE_MS,
    maxBusySteps: 1,
    async step() {
      const last = await readSqlFeedCopy(pool, network)
      if (!last.isComplete || (last.count >= last.newest && last.isShown)) return 'idle'
      const page = await readSerializedEvents(pool, network, {
        first: last.count + 1,
        limit: MAX_ENTRIES_PER_STEP,
      })
      // a rewind happened meanwhile: the next step uses the new generation
      if (page?.generation === last.generation) await appendToSqlFeedCopy(ctx, last, page.events)
      return 'progressed'
    },
  }
}
