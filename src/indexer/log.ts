import { alarmFields } from '../ops/alarms.js'
import type { LeaderContext } from '../ops/context.js'
import { reportWentBack } from '../ops/wentBack.js'
import type { Worker } from '../ops/worker.js'
import { type LogOptions, logWorker } from '../push/log.js'

/** Time after which events that are not in the log are an alarm. */
const BEHIND_LIMIT_MS = 60_000

/** The worker of the feed's log, with its metric and its alarms. */
export function watchedLogWorker(
  ctx: LeaderContext,
  options: Omit<LogOptions, 'onWentBack' | 'onBehind'>,
): Worker {
  const { network, metrics, loops, log } = ctx
  const alarm = 'ClusterdLogBehind'
  const key = `the log of ${network} is behind`
  let levelMs = performance.now()
  const worker = logWorker(ctx, {
    ...options,
    onWentBack: () => reportWentBack(ctx, network),
    onBehind(events) {
      metrics.logBehind.set({ network }, events)
      const nowMs = performance.now()
      if (events === 0) levelMs = nowMs
      if (nowMs - levelMs < BEHIND_LIMIT_MS) return void loops.raised.delete(key)
      const text = `the signed log of ${network} is ${events} events behind its feed`
      if (!loops.raised.has(key)) log.error({ network, ...alarmFields(alarm) }, text)
      loops.raised.set(key, { alarm, text })
    },
  })
  return {
    ...worker,
    subscribe: () => () => {
      metrics.logBehind.remove({ network })
      loops.raised.delete(key)
    },
  }
}
