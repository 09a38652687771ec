import { moveSlice } from '../db/journal/moves/slice.js'
import type { LeaderContext } from '../ops/context.js'
import type { Worker } from '../ops/worker.js'

/** Pause between two slices, in which other writers get the head's lock: at most 10,000 names a second move. */
const PAUSE_MS = 100
const IDLE_MS = 1_000

/** Carries on the moves of names, a slice at a time; a process that takes over goes on with the next. */
export function moveWorker({
  pool,
  network,
  epoch,
  log,
}: Pick<LeaderContext, 'network' | 'pool' | 'epoch' | 'log'>): Worker {
  return {
    ...{ name: 'the moves of names', fields: { network } },
    ...{ pollMs: PAUSE_MS, idleMs: IDLE_MS, maxBusySteps: 0 },
    async step() {
      const moved = await moveSlice({ pool, network, epoch })
      if (moved === null) return 'idle'
      if (moved.isLast) log.info({ network, clusterId: moved.clusterId }, 'the last names of a cluster have moved')
      return 'progressed'
    },
  }
}
