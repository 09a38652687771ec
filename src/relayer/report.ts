import type { JobRow } from '../db/outbox/rows.js'
import type { OpenJobCount } from '../db/outbox/stats.js'
import {
  OLD_JOB_ALARM_MS,
  PAYMENT_TIME_USED_ALARM_SHARE,
  type ProblemWithAlarm,
} from '../ops/alarms.js'
import type { Logger } from '../ops/logger/logger.js'
import type { JobKind } from '../registry/outbox.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import { type RelayerState, relayerProblems } from './relayerState.js'
import type { JobStepOutcome } from './step.js'

/** State of a network's outbox, which this process leads. */
export interface OutboxState {
  network: Network
  /** Settings of keys that the leading process needs for the network's jobs and does not have. */
  missingKeys: readonly string[]
  /** One for each chain on which the relayer sends transactions, once its relayer is open. */
  relayers: readonly RelayerState[]
}

/** Problems of an outbox, one for each cause. */
export function outboxProblems(
  { network, missingKeys, relayers }: OutboxState,
  nowMs: number,
): ProblemWithAlarm[] {
  const problems = relayers.flatMap((relayer) => problemsOfRelayerAndJobs(relayer, nowMs))
  for (const key of missingKeys)
    problems.push({
      alarm: 'ClusterdRelayKeyMissing',
      text: `this process relays for ${network} without ${key}`,
      network,
      subject: key,
    })
  const refusedNames = relayers.reduce((sum, one) => sum + one.refusedNames, 0)
  if (refusedNames > 0)
    problems.push({
      alarm: 'ClusterdNamesRefused',
      text: `${network}: payments that were refused though their names are registered: ${refusedNames}`,
      network,
    })
  return problems
}

function problemsOfRelayerAndJobs(relayer: RelayerState, nowMs: number): ProblemWithAlarm[] {
  const { network, chain, open } = relayer
  const ofRelayer = relayerProblems(relayer)
  const isStopped = ofRelayer.some(({ stopsJobs }) => stopsJobs)
  const ofJobs = (open ?? [])
    .flatMap((jobs) => jobsProblem(jobs, nowMs) ?? [])
    .filter(({ alarm }) => !(isStopped && alarm === 'ClusterdJobsWait'))
  return [...ofRelayer.map(({ stopsJobs: _, ...problem }) => problem), ...ofJobs].map(
    (problem) => ({
      ...problem,
      text: `${network}: ${problem.text}`,
      network,
      chain,
    }),
  )
}

/** The most urgent problem of jobs of one kind and state. Null where there is none. */
function jobsProblem(
  { kind, state, count, oldestMs, heldShare }: OpenJobCount,
  nowMs: number,
): ProblemWithAlarm | null {
  const subject = `${kind} ${state}`
  if (heldShare !== null && heldShare > PAYMENT_TIME_USED_ALARM_SHARE)
    return {
      alarm: 'ClusterdPaymentsShortOfTime',
      subject,
      text: `a payment whose ${kind} is ${state} has been held for ${Math.floor(heldShare * 100)} % of its time`,
    }
  if (state === 'parked')
    return {
      alarm: 'ClusterdJobsParked',
      text: `parked jobs of the kind ${kind}: ${count}`,
      subject,
    }
  const ageMs = nowMs - oldestMs
  if (ageMs <= OLD_JOB_ALARM_MS) return null
  const minutes = Math.floor(ageMs / 60_000)
  return {
    alarm: 'ClusterdJobsWait',
    text: `a job of the kind ${kind} has been ${state} for ${minutes} min`,
    subject,
  }
}

const LOG_TEXT_OF_CONFIRMED_JOB: Record<JobKind, string> = {
  verify: 'verified',
  execute: 'delivered',
  noop: 'used a nonce up',
  deliver: 'delivered',
  refuse: 'refunded a payment for a community name',
  settle: 'settled a payment',
  refund: 'refunded a payment',
  release: 'released a payment for a community name',
}

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
    log.info({ ...fields, ms: nowMs - sinceMs }, LOG_TEXT_OF_CONFIRMED_JOB[kind])
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
