import { alarmLogFields } from '../ops/alarms.js'
import type { LeaderContext } from '../ops/context.js'
import { reportLostCommits } from '../ops/lostCommits.js'
import type { Worker } from '../ops/worker.js'
import { type FeedLogWorkerOptions, feedLogWorker } from '../push/log.js'

/** Age from which events that are not in the signed log raise an alarm, ms. */
const BEHIND_LIMIT_MS = 60_000

/** The worker that maintains a network's signed log, with its alarms. */
export function signedLogWorker(
  ctx: LeaderContext,
  options: Omit<FeedLogWorkerOptions, 'onWentBack' | 'onBehind'>,
): Worker {
  const { network, loops, log } = ctx
  const what = options.isEvidence ? `evidence of ${network}` : network
  const alarm = 'ClusterdLogBehind'
  const key = `the log of ${what} is behind`
  let levelMs = performance.now()
  const worker = feedLogWorker(ctx, {
    ...options,
    onWentBack: () => reportLostCommits(ctx, network),
    onBehind(events) {
      const nowMs = performance.now()
      if (events === 0) levelMs = nowMs
      if (nowMs - levelMs < BEHIND_LIMIT_MS) return void loops.raised.delete(key)
      const text = `the signed log of ${what} is ${events} entries behind`
      if (!loops.raised.has(key)) log.error({ network, ...alarmLogFields(alarm) }, text)
      loops.raised.set(key, { alarm, text, network })
    },
  })
  return {
    ...worker,
    subscribe: () => () => loops.raised.delete(key),
  }
}
