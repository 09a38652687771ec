import type { JobRow } from '../../db/outbox/rows.js'
import { alarmFields, type Problem } from '../../ops/alarms.js'
import type { Logger } from '../../ops/log/log.js'
import type { JobKind } from '../../registry/outbox.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Outcome } from '../step.js'

const DONE: Record<JobKind, string> = {
  verify: 'verified',
  execute: 'delivered',
  noop: 'used a nonce up',
  deliver: 'delivered',
  refuse: 'refunded a payment for a community name',
  settle: 'settled on Solana',
  refund: 'refunded on Solana',
  release: 'released a payment for a community name',
}

/** Logs an outcome of a job. */
export function logOutcome(log: Logger, job: JobRow, outcome: Outcome, nowMs: number): void {
  const { network, id, kind, nonce, subject, payment, message, txs, failures, reason } = job
  const fields = {
    ...{ network, job: id, kind, nonce, subject: subject && toHex(subject) },
    ...(payment && { token: payment.money.token, amount: String(payment.money.amount) }),
    ...{ tx: txs.at(-1)?.hash, failures, reason },
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
  } else if (outcome === 'waiting') log.trace(fields, outcome)
  else log.debug(fields, outcome === 'unreachable' ? 'the chain could not be asked' : outcome)
}

/** Creates a log of a network's alarms, which writes each when it begins. */
export function createAlarmLog(log: Logger, network: Network): (problems: readonly Problem[]) => void {
  let known: ReadonlySet<Problem['alarm']> = new Set()
  return (problems) => {
    const alarms = new Set(problems.map(({ alarm }) => alarm))
    for (const alarm of alarms) {
      if (known.has(alarm)) continue
      const texts = problems.filter((problem) => problem.alarm === alarm).map(({ text }) => text)
      log.error({ network, ...alarmFields(alarm) }, texts.join('; '))
    }
    known = alarms
  }
}
