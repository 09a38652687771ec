import type { BalancePort } from '../../chains/requirementInputs.js'
import { alarmFields } from '../../ops/alarms.js'
import type { LeaderContext } from '../../ops/context.js'
import type { Notify } from '../../ops/notify.js'
import { IDLE_POLL_MS, type Worker } from '../../ops/worker.js'
import { PaymentJudge } from './judge.js'

/** Age from which a waiting payment raises an alarm: a refund is possible only while the payment is held. */
const ALARM_AFTER_MS = 5 * 60_000

export interface PaymentJudgeSources {
  /** The network's chains, where balances are read. */
  ports: readonly BalancePort[]
  /** Notified when payments may have become final. */
  notify: Notify
  pollMs: number
}

/** Decides a network's payments for community names. */
export function paymentJudgeWorker(ctx: LeaderContext, { ports, notify, pollMs }: PaymentJudgeSources): Worker {
  const { pool, network, epoch, log, metrics } = ctx
  const judge = new PaymentJudge({ pool, network, epoch, ports })
  let isAlarmed = false
  return {
    ...{ name: 'the payments of communities', fields: { network }, notify, pollMs, idleMs: IDLE_POLL_MS },
    // a process that leads no more knows nothing of the wait
    subscribe: () => () => metrics.paymentsWait.remove({ network }),
    async step() {
      const outcome = await judge.step()
      if (outcome.kind !== 'entered') return outcome.kind === 'idle' ? 'idle' : 'waiting'
      metrics.entries.inc({ network }, outcome.payments)
      log.info({ network, ...outcome }, 'payments of communities are in the journal')
      return 'progressed'
    },
    check() {
      const { waiting, sinceMs, reason } = judge.state
      const waitingMs = sinceMs === null ? 0 : Date.now() - sinceMs
      metrics.paymentsWait.set({ network }, waitingMs / 1_000)
      const isAlarm = waitingMs >= ALARM_AFTER_MS
      if (isAlarm && !isAlarmed)
        log.error({ network, waiting, waitingMs, reason, ...alarmFields('ClusterdPaymentsWait') }, NO_ANSWER)
      isAlarmed = sinceMs !== null && (isAlarm || isAlarmed)
    },
  }
}

const NO_ANSWER = 'payments of communities wait: a chain that has to be asked does not answer'
