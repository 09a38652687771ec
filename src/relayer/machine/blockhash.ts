import type { TxStatus } from '../../chains/solana/signer.js'
import type { BlockhashTx, JobKind, ParkReason } from '../../registry/outbox.js'
import type { PaymentOutcome } from '../../registry/payment/payment.js'
import type { Event } from './index.js'
import { type BlockhashJob, hasEnded } from './job.js'

/** A payment with a job, as the cluster shows it. */
export type PaymentView =
  /** The job can be done. */
  | { is: 'held' }
  /** The job is done, by whomever. */
  | { is: 'done' }
  /** The job can't be done any more. */
  | { is: 'lost'; reason: ParkReason }
  /** The payment is decided, and the watcher has not yet read how. */
  | { is: 'unknown' }

/**
 * The view of a payment.
 * @param isHeld whether a node shows its account as held
 * @param outcome as the watcher read it, by two nodes where two answer: it alone ends a job
 */
export function viewOf(
  kind: JobKind,
  isHeld: boolean,
  outcome: PaymentOutcome | null,
): PaymentView {
  if (outcome === null) return { is: isHeld ? 'held' : 'unknown' }
  // the end of a payment for a community name is told by its outcome
  const isBack = outcome !== 'released'
  if (kind === 'refuse' || kind === 'release' || isBack === (kind === 'refund'))
    return { is: 'done' }
  if (outcome === 'reclaimed') return { is: 'lost', reason: outcome }
  return { is: 'lost', reason: isBack ? 'refunded_elsewhere' : 'settled_elsewhere' }
}

/** View of a signed transaction on a cluster. Height is read before status, so none that lands between is lost. */
export interface BlockhashSeen {
  /** Height of the newest confirmed block. */
  height: number
  /** Null: no block that the node knows holds the transaction. */
  status: TxStatus | null
  /** The payment in a slot after that block; null while nobody has looked. */
  payment: PaymentView | null
}

export type BlockhashAction =
  | { do: 'wait' }
  /** Look at the payment itself. */
  | { do: 'look' }
  | { do: 'sign' }
  /** Send the same bytes (again): they are in no block. */
  | { do: 'broadcast'; tx: BlockhashTx }
  | { do: 'record'; event: Event<BlockhashTx> }

export function planBlockhashJob(
  job: BlockhashJob,
  { height, status, payment }: BlockhashSeen,
): BlockhashAction {
  if (hasEnded(job)) return { do: 'wait' }
  if (job.state === 'queued') return payment ? planByPayment(job, payment) : { do: 'look' }
  const tx = job.txs[0]!
  if (status) {
    if (!status.isConfirmed) return { do: 'wait' }
    if (status.error === null) return planDone(payment, height > tx.lastValidHeight)
    return record({ is: 'expired', feeWei: 0n, reason: status.error })
  }
  if (height <= tx.lastValidHeight) return { do: 'broadcast', tx }
  return payment ? planByPayment(job, payment) : { do: 'look' }
}

/** A node's word, and an account that is gone, end no job. */
function planDone(payment: PaymentView | null, isTooLate: boolean): BlockhashAction {
  if (payment === null) return { do: 'look' }
  if (payment.is === 'held' && isTooLate) return expire('expired')
  return payment.is === 'held' || payment.is === 'unknown'
    ? { do: 'wait' }
    : record({ is: 'confirmed', feeWei: 0n })
}

/** Nothing signed can land: the payment shows whether the job is done, or may be signed anew. */
function planByPayment(job: BlockhashJob, payment: PaymentView): BlockhashAction {
  switch (payment.is) {
    case 'held':
      // a node's refusal says why it didn't land
      return job.state === 'queued' ? { do: 'sign' } : expire(job.reason ?? 'expired')
    case 'done':
      return record({ is: 'confirmed', feeWei: 0n })
    case 'lost':
      return record({ is: 'parked', reason: payment.reason })
    case 'unknown':
      // the watcher reads what closed the payment's account
      return job.state === 'queued'
        ? record({ is: 'failed', failure: { class: 'transient', reason: 'closed_unseen' } })
        : expire('closed_unseen')
  }
}

const expire = (reason: string): BlockhashAction => record({ is: 'expired', feeWei: 0n, reason })
const record = (event: Event<BlockhashTx>): BlockhashAction => ({ do: 'record', event })
