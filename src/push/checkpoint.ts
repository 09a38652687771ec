import {
  CHECKPOINT_EVERY,
  copyEvents,
  type FeedCheckpoint,
  type FollowedFeed,
  readCheckpoint,
  readCopied,
  writeCheckpoints,
} from '../db/journal/feed.js'
import type { Queryable } from '../db/pg/rows.js'
import type { LeaderContext } from '../ops/context.js'
import type { Worker } from '../ops/worker.js'
import { feedHash } from '../registry/journal/feedHash.js'
import type { Network } from '../registry/primitives/network.js'
import { type Events, readEvents } from './feedReader.js'

/** Entries of a step: some ten ms of work. */
const ENTRIES_AT_ONCE = 256
/** Pause after two steps, so catching up leaves the indexer most of its time: 5,000 entries a second. */
const PAUSE_MS = 100
const IDLE_MS = 1_000

type Ctx = Pick<LeaderContext, 'network' | 'pool' | 'epoch'>

/**
 * Follows a network's feed behind its end, in steps, after the first catch-up of the hub.
 */
function followWorker<T extends FollowedFeed & { isShown?: boolean }>(
  { pool, network }: Ctx,
  name: string,
  read: (pool: Queryable, network: Network) => Promise<T>,
  write: (last: T, found: Events) => Promise<void>,
): Worker {
  return {
    name,
    fields: { network },
    pollMs: PAUSE_MS,
    idleMs: IDLE_MS,
    maxBusySteps: 1,
    async step() {
      const last = await read(pool, network)
      if (!last.isCaughtUp || (last.count >= last.newest && last.isShown !== false)) return 'idle'
      const found = await readEvents(pool, network, {
        first: last.count + 1,
        limit: ENTRIES_AT_ONCE,
      })
      // a rewind came between: the next step finds its generation
      if (found?.generation === last.generation) await write(last, found)
      return 'progressed'
    },
  }
}

/** An answer about the hash then costs a row. */
export const checkpointWorker = (ctx: Ctx): Worker =>
  followWorker(ctx, 'the checkpoint of the feed', readCheckpoint, (last, found) =>
    writeCheckpoints(ctx, last, checkpointsOf(last, found)),
  )

/** A feed that begins anew is copied anew, beside the copy that readers see. */
export const sqlWorker = (ctx: Ctx): Worker =>
  followWorker(ctx, 'the events of SQL', readCopied, (last, { events }) =>
    copyEvents(ctx, last, events),
  )

/** The checkpoints that stay for ever among those of some events, and that of the last of them. */
function checkpointsOf({ hash, generation }: FeedCheckpoint, { events }: Events): FeedCheckpoint[] {
  const kept: FeedCheckpoint[] = []
  let at = hash
  for (const [i, { number, json }] of events.entries()) {
    at = feedHash(at, json)
    if (number % CHECKPOINT_EVERY === 0 || i === events.length - 1)
      kept.push({ generation, count: number, hash: at })
  }
  return kept
}
