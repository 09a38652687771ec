import { LostLeadershipError } from '../../db/journal/head.js'
import type { Logger } from '../../ops/log.js'
import type { Notify } from '../../ops/notify.js'
import { pauseAfterError } from '../../ops/worker.js'
import type { Network } from '../../registry/primitives/network.js'
import type { JudgeOutcome, PaymentJudge } from './judge.js'

/** Payments that wait longer than this for a chain are an alarm: those that buy nothing have to be given back within their hold. */
const ALARM_AFTER_MS = 5 * 60_000

export interface JudgeRunOptions {
  network: Network
  log: Logger
  /** Notified when payments may have become final. */
  notify: Notify
  /** It looks all the same after so long. */
  pollMs: number
  onOutcome: (outcome: JudgeOutcome | { kind: 'failed' }) => void
  nowMs?: () => number
}

/** Judges a network's payments for community names until the signal. */
export async function runPaymentJudge(
  judge: PaymentJudge,
  options: JudgeRunOptions,
  signal: AbortSignal,
): Promise<void> {
  const { network, log, notify, pollMs, onOutcome, nowMs = Date.now } = options
  let failures = 0
  let isAlarmed = false
  while (!signal.aborted) {
    try {
      const outcome = await judge.converge()
      failures = 0
      onOutcome(outcome)
      if (outcome.kind === 'entered') log.info({ network, ...outcome }, 'payments of communities are in the journal')
      isAlarmed = raiseAlarm(judge, nowMs(), isAlarmed, (fields) =>
        log.error({ network, ...fields }, 'payments of communities wait: a chain that has to be asked does not answer'),
      )
      if (outcome.kind === 'entered') continue
      await notify.wait(pollMs, signal)
    } catch (error) {
      if (error instanceof LostLeadershipError || signal.aborted) throw error
      onOutcome({ kind: 'failed' })
      const fields = { network, err: error, failures }
      if (failures === 0) log.warn(fields, 'judging payments of communities failed; it will be tried again')
      else log.debug(fields, 'judging payments of communities failed again')
      await pauseAfterError(failures, signal)
      failures += 1
    }
  }
}

/** @returns whether it has been raised, once for as long as something waits */
function raiseAlarm(
  { state }: PaymentJudge,
  nowMs: number,
  isAlarmed: boolean,
  raise: (fields: object) => void,
): boolean {
  const { waiting, sinceMs, reason } = state
  if (sinceMs === null || nowMs - sinceMs < ALARM_AFTER_MS) return sinceMs !== null && isAlarmed
  if (!isAlarmed) raise({ waiting, waitingMs: nowMs - sinceMs, reason })
  return true
}
