import { type AlarmName, alarmLogFields } from '../ops/alarms.js'
import type { LeaderContext } from '../ops/context.js'
import { reportLostCommits } from '../ops/lostCommits.js'
import type { Worker } from '../ops/worker.js'
import { type FeedLogWorkerOptions, feedLogWorker } from '../push/log.js'
import { Witness, type WitnessSettings } from '../push/witnesses.js'

/** Time after which events that are not in the signed log, and a witness that does not sign, raise an alarm, ms. */
const ALARM_AFTER_MS = 60_000

export interface SignedLogOptions
  extends Omit<FeedLogWorkerOptions, 'onWentBack' | 'onBehind' | 'witnesses'> {
  witnesses?: readonly WitnessSettings[]
}

/** The worker that maintains a network's signed log, with its alarms. */
export function signedLogWorker(
  ctx: LeaderContext,
  { witnesses: settings = [], ...options }: SignedLogOptions,
): Worker {
  const { network, loops, log } = ctx
  const witnesses = settings.map((one) => new Witness(one))
  const raised = new Set<string>()
  const raise = (alarm: AlarmName, key: string, text: string | null): void => {
    if (text === null) return void loops.raised.delete(key)
    if (!loops.raised.has(key)) log.error({ network, ...alarmLogFields(alarm) }, text)
    loops.raised.set(key, { alarm, text, network })
    raised.add(key)
  }
  const what = options.isEvidence ? `evidence of ${network}` : network
  let levelMs = performance.now()
  const worker = feedLogWorker(ctx, {
    ...options,
    witnesses,
    onWentBack: () => reportLostCommits(ctx, network),
    onBehind(events) {
      const nowMs = performance.now()
      const isLate = (sinceMs: number) => nowMs - sinceMs >= ALARM_AFTER_MS
      if (events === 0) levelMs = nowMs
      const behind = `the signed log of ${what} is ${events} entries behind`
      raise('ClusterdLogBehind', `the log of ${what} is behind`, isLate(levelMs) ? behind : null)
      for (const { name, failing } of witnesses) {
        const text =
          failing && isLate(failing.sinceMs)
            ? `the witness ${name} does not sign the log of ${network}: ${failing.why}`
            : null
        raise('ClusterdWitnessAway', `the witness ${name} of ${network}`, text)
      }
    },
  })
  return {
    ...worker,
    subscribe: () => () => {
      for (const key of raised) loops.raised.delete(key)
    },
  }
}
