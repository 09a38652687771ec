import { CHECKPOINT_EVERY, type FeedCheckpoint, readCheckpoint, writeCheckpoints } from '../db/journal/feed.js'
import type { LeaderContext } from '../ops/context.js'
import type { Worker } from '../ops/worker.js'
import { feedHash } from '../registry/journal/feedHash.js'
import { type Events, readEvents } from './feedReader.js'

/** Entries of a step: some ten milliseconds of work. */
const ENTRIES_AT_ONCE = 256
/** Pause after two steps, so that catching up leaves the indexer most of its time: 5,000 entries a second. */
const PAUSE_MS = 100
const IDLE_MS = 1_000

/**
 * Keeps the hash of a network's feed, behind its end, in steps: an answer about it then costs a row. It waits for the
 * first catch-up of the hub, which needs all there is.
 */
export function checkpointWorker(ctx: Pick<LeaderContext, 'network' | 'pool' | 'epoch'>): Worker {
  const { pool, network } = ctx
  return {
    ...{ name: 'the checkpoint of the feed', fields: { network } },
    ...{ pollMs: PAUSE_MS, idleMs: IDLE_MS, maxBusySteps: 1 },
    async step() {
      const last = await readCheckpoint(pool, network)
      if (!last.isCaughtUp || last.count >= last.newest) return 'idle'
      const found = await readEvents(pool, network, { first: last.count + 1, limit: ENTRIES_AT_ONCE })
      // a rewind came between: the next step finds its generation
      if (found?.generation === last.generation) await writeCheckpoints(ctx, last, checkpointsOf(last, found))
      return 'progressed'
    },
  }
}

/** The checkpoints that stay for ever among those of some events, and that of the last of them. */
function checkpointsOf({ hash, generation }: FeedCheckpoint, { events }: Events): FeedCheckpoint[] {
  const kept: FeedCheckpoint[] = []
  let at = hash
  for (const [i, { number, json }] of events.entries()) {
    at = feedHash(at, json)
    if (number % CHECKPOINT_EVERY === 0 || i === events.length - 1) kept.push({ generation, count: number, hash: at })
  }
  return kept
}
