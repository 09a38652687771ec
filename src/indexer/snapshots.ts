import { entriesBeyond, SNAPSHOT_BEHIND } from '../db/journal/snapshot/index.js'
import { keepSnapshot } from '../db/journal/snapshot/keep.js'
import { alarmFields } from '../ops/alarms.js'
import type { LeaderContext } from '../ops/context.js'
import type { Worker } from '../ops/worker.js'

const POLL_MS = 60_000
/** Pause after a failure, doubled by each that follows, up to a day. */
const FAILURE_PAUSE_MS = 10 * 60_000
const LONGEST_PAUSE_MS = 24 * 60 * 60_000

export interface SnapshotOptions {
  /** Entries by which the journal grows from one snapshot to the next; 0 for none. */
  every: number
  /** Entries that a snapshot lies behind the journal's end. */
  behind?: number
}

/**
 * Replays what came after a network's snapshot each time that the journal has grown by so many entries, compares the
 * tables, and keeps the next snapshot. It never locks the head.
 */
export function snapshotWorker(ctx: LeaderContext, { every, behind = SNAPSHOT_BEHIND }: SnapshotOptions): Worker {
  const { pool, network, databaseUrl, log, metrics } = ctx
  const { failures: failing, differs, entry } = metrics.snapshots
  let failures = 0
  let nextMs = 0
  const failed = (): void => {
    nextMs = performance.now() + Math.min(FAILURE_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
    failures += 1
    failing.set({ network }, failures)
  }
  return {
    ...{ name: 'the snapshots', fields: { network }, pollMs: POLL_MS },
    // what a leader found says nothing once another leads
    subscribe: () => () => {
      for (const gauge of [failing, differs, entry]) gauge.remove({ network })
    },
    async step(signal, alive) {
      if (every === 0 || performance.now() < nextMs) return 'idle'
      if ((await entriesBeyond(pool, network)) < every + behind) return 'idle'
      const startedMs = performance.now()
      try {
        const done = await keepSnapshot({ pool, databaseUrl, network, signal, alive, behind })
        if (!done) {
          log.info({ network }, 'a snapshot gave way; it is made later')
          return 'waiting'
        }
        const { live, rebuilt, from, kept, entries } = done
        const ms = Math.round(performance.now() - startedMs)
        differs.set({ network }, Number(live !== rebuilt))
        if (live !== rebuilt) {
          const fields = { network, entries, from, live, rebuilt, ...alarmFields('ClusterdStateDiffers') }
          log.error(fields, 'the tables are not what the journal gives')
          failed()
          return 'waiting'
        }
        failures = 0
        failing.set({ network }, 0)
        if (kept !== null) entry.set({ network }, kept)
        log.info({ network, from, kept, entries, ms }, 'the journal gives the tables; a snapshot is kept')
      } catch (err) {
        failed()
        log.warn({ network, err, failures }, 'a snapshot failed; it is tried again later')
      }
      return 'waiting'
    },
  }
}
