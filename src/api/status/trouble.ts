import type { UnfinishedJob } from '../../db/outbox/unfinishedJob.js'
import {
  type JobKind,
  PARKED_ABOVE_DELIVERY_LIMIT,
  PARKED_BELOW_REFUSAL_COST,
} from '../../registry/outbox.js'
import { timestampToMillisecond } from '../http/timestamps.js'

/** A fault of the service with a delivery or a refund, described for the payer. */
export interface Trouble {
  text: string
  /** Time since which the delivery or the refund has been due, as `timestampToMillisecond` writes it. */
  since: string
}

/** Age from which a confirmed payment without a started delivery counts as a trouble, ms. */
const NOT_BEGUN_AFTER_MS = 10 * 60_000

const REFUND_JOB_KINDS: ReadonlySet<JobKind> = new Set<JobKind>(['refund', 'refuse'])

/**
 * Explanations of failures that a payer understands, by the reason of the job. Other reasons, such as the relayer's
 * balance, are for the operator only.
 */
const REASON_TEXT: Readonly<Record<string, string>> = {
  [PARKED_ABOVE_DELIVERY_LIMIT]: 'The bid is above what the service may deliver in a day.',
  spend_cap: 'It costs more than the service pays for one transaction.',
  gas_price_above_cap: 'Gas costs more at present than the service pays.',
  fees_above_cap: 'Gas costs more at present than the service pays.',
  enforced_pause: 'The contract is paused.',
}

/**
 * Trouble with the job of a message or payment. Null while the job has not failed, and for a payment that is too small
 * for a refund.
 */
export function jobTrouble(job: UnfinishedJob | null): Trouble | null {
  if (job === null || job.reason === null || job.reason === PARKED_BELOW_REFUSAL_COST) return null
  const what = REFUND_JOB_KINDS.has(job.kind) ? 'The refund' : 'The delivery to the hub'
  const how = job.isParked
    ? `${what} has stopped, and waits for the operator of the service.`
    : `${what} has not succeeded yet. The service tries again automatically.`
  const why = REASON_TEXT[job.reason]
  return troubleSince(why === undefined ? how : `${how} ${why}`, job.createdMs)
}

/**
 * Trouble with a payment whose delivery has not started. Null while the payment is younger than `NOT_BEGUN_AFTER_MS`.
 */
export const undeliveredTrouble = (paidMs: number, nowMs: number): Trouble | null =>
  nowMs - paidMs < NOT_BEGUN_AFTER_MS
    ? null
    : troubleSince('The service has not begun the delivery to the hub.', paidMs)

const troubleSince = (text: string, sinceMs: number): Trouble => ({
  text: `${text} Do not pay again.`,
  since: timestampToMillisecond(sinceMs),
})
