import type { UnfinishedJob } from '../../db/outbox/unfinishedJob.js'
import {
  type JobKind,
  PARKED_ABOVE_DELIVERY_LIMIT,
  PARKED_BELOW_REFUSAL_COST,
} from '../../registry/outbox.js'
import { timestampToMillisecond } from '../http/timestamps.js'

/** Trouble of the service with a delivery or a refund, in words for the payer. */
export interface Trouble {
  text: string
  /** Time since which the delivery or the refund has been due, ISO 8601. */
  since: string
}

/** Age of a confirmed payment from which it is trouble that nobody has begun to deliver it, ms. */
const NOT_BEGUN_AFTER_MS = 10 * 60_000

const REFUNDS: ReadonlySet<JobKind> = new Set<JobKind>(['refund', 'refuse'])

/** Causes that a payer understands. Others, such as the relayer's balance, are for the operator only. */
const CAUSES: Readonly<Record<string, string>> = {
  [PARKED_ABOVE_DELIVERY_LIMIT]: 'The bid is above what the service may deliver in a day.',
  spend_cap: 'It costs more than the service pays for one transaction.',
  gas_price_above_cap: 'Gas costs more at present than the service pays.',
  fees_above_cap: 'Gas costs more at present than the service pays.',
  enforced_pause: 'The contract is paused.',
}

/** Trouble with the job of a message or payment. Null while the job has not failed, and for a refund of dust. */
export function jobTrouble(job: UnfinishedJob | null): Trouble | null {
  if (job === null || job.reason === null || job.reason === PARKED_BELOW_REFUSAL_COST) return null
  const what = REFUNDS.has(job.kind) ? 'The refund' : 'The delivery to the hub'
  const how = job.isParked
    ? `${what} has stopped, and waits for the operator of the service.`
    : `${what} has not succeeded yet. The service tries again automatically.`
  const why = CAUSES[job.reason]
  return troubleSince(why === undefined ? how : `${how} ${why}`, job.createdMs)
}

/** Trouble with a payment that nobody has begun to deliver. Null while there is still time. */
export const undeliveredTrouble = (paidMs: number, nowMs: number): Trouble | null =>
  nowMs - paidMs < NOT_BEGUN_AFTER_MS
    ? null
    : troubleSince('The service has not begun the delivery to the hub.', paidMs)

const troubleSince = (text: string, sinceMs: number): Trouble => ({
  text: `${text} Do not pay again.`,
  since: timestampToMillisecond(sinceMs),
})
