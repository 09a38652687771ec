import { removeExpired } from '../db/deployment/retention.js'
import type { LeaderContext } from '../ops/context.js'
import type { Worker } from '../ops/worker.js'

const EVERY_MS = 60 * 60_000
const POLL_MS = 60_000

/** Once an hour forgets what has had its time. */
export function retentionWorker({ pool, network, log }: LeaderContext): Worker {
  // a clock that is set does not move it
  let doneAt: number | null = null
  return {
    ...{ name: 'the retention', fields: { network }, pollMs: POLL_MS },
    async step(signal, alive) {
      if (doneAt !== null && performance.now() - doneAt < EVERY_MS) return 'idle'
      const removed = await removeExpired(pool, network, signal, alive)
      if (Object.values(removed).some((rows) => rows > 0))
        log.info({ network, removed }, 'forgot what has had its time')
      doneAt = performance.now()
      return 'idle'
    },
  }
}
