import type { JobRow } from '../db/outbox/rows.js'
import {
  alarmLogFields,
  OLD_JOB_ALARM_MS,
  PAYMENT_TIME_USED_ALARM_SHARE,
  type ProblemWithAlarm,
} from '../ops/alarms.js'
import type { Logger } from '../ops/log/log.js'
import type { JobKind } from '../registry/outbox.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import type { RelayerState } from './relayerTelemetry.js'
import type { JobStepOutcome } from './step.js'

export interface OutboxState {
  network: Network
  /** States, one for each chain on which there is something to send. */
  relayers: readonly RelayerState[]
}

/** Problems of an outbox. The alarms' rules detect the same problems from metrics. */
export function outboxProblems(
  { network, relayers }: OutboxState,
  nowMs: number,
): ProblemWithAlarm[] {
  const problems: ProblemWithAlarm[] = []
  const found = (holds: boolean, alarm: ProblemWithAlarm['alarm'], text: string) => {
    if (holds) problems.push({ alarm, text: `${network}: ${text}` })
  }
  for (const relayer of relayers)
    for (const { alarm, text } of relayer.kind.problems(relayer)) found(true, alarm, text)
  for (const { kind, state, count, oldestMs, heldShare } of relayers.flatMap(
    ({ stats }) => stats?.open ?? [],
  )) {
    const isParked = state === 'parked'
    const ageMs = nowMs - oldestMs
    const waits = `a job of the kind ${kind} has been ${state} for ${Math.floor(ageMs / 60_000)} min`
    found(isParked, 'ClusterdJobsParked', `parked jobs of the kind ${kind}: ${count}`)
    found(!isParked && ageMs > OLD_JOB_ALARM_MS, 'ClusterdJobsWait', waits)
    found(
      heldShare !== null && heldShare > PAYMENT_TIME_USED_ALARM_SHARE,
      'ClusterdPaymentsShortOfTime',
      `a payment whose ${kind} is ${state} has been held for ${Math.floor((heldShare ?? 0) * 100)} % of its time`,
    )
  }
  const refusedNames = relayers.reduce((sum, one) => sum + one.refusedNames, 0)
  found(
    refusedNames > 0,
    'ClusterdNamesRefused',
    `payments that were refused though their names are registered: ${refusedNames}`,
  )
  return problems
}

const DONE: Record<JobKind, string> = {
  verify: 'verified',
  execute: 'delivered',
  noop: 'used a nonce up',
  deliver: 'delivered',
  refuse: 'refunded a payment for a community name',
  settle: 'settled a payment',
  refund: 'refunded a payment',
  release: 'released a payment for a community name',
}

/** Logs an outcome of a job. */
export function logJobOutcome(
  log: Logger,
  job: JobRow,
  outcome: JobStepOutcome,
  nowMs: number,
): void {
  const { network, id, kind, nonce, subject, payment, message, txs, failures, reason } = job
  const fields = {
    network,
    job: id,
    kind,
    nonce,
    subject: subject && toHex(subject),
    ...(payment && { token: payment.money.token, amount: String(payment.money.amount) }),
    tx: txs.at(-1)?.hash,
    failures,
    reason,
  }
  if (outcome === 'confirmed') {
    const sinceMs = message?.sentMs ?? payment?.paidMs ?? job.createdMs
    log.info({ ...fields, ms: nowMs - sinceMs }, DONE[kind])
  } else if (outcome === 'parked') {
    if (reason === 'settled_elsewhere' || reason === 'refunded_elsewhere')
      log.error(fields, 'a job is parked: somebody else decided about its money')
    else log.warn(fields, 'a job is parked: see `clusterd outbox show`')
  } else if (outcome === 'failed' || outcome === 'refused') {
    if (failures <= 1) log.warn(fields, 'a job failed; it will be tried again')
    else log.debug(fields, 'a job failed again')
  } else if (outcome === 'waiting' || outcome === 'unreachable') log.trace(fields, outcome)
  else log.debug(fields, outcome)
}

/** Logs each of a network's alarms when it begins. */
export function createAlarmLog(
  log: Logger,
  network: Network,
): (problems: readonly ProblemWithAlarm[]) => void {
  let known: ReadonlySet<ProblemWithAlarm['alarm']> = new Set()
  return (problems) => {
    const alarms = new Set(problems.map(({ alarm }) => alarm))
    for (const alarm of alarms) {
      if (known.has(alarm)) continue
      const texts = problems.filter((problem) => problem.alarm === alarm).map(({ text }) => text)
      log.error({ network, ...alarmLogFields(alarm) }, texts.join('; '))
    }
    known = alarms
  }
}
