import type { SolanaTxStatus } from '../../chains/solana/signer.js'
import type { JobKind, ParkReason, SolanaJobTx } from '../../registry/outbox.js'
import type { PaymentOutcome } from '../../registry/payment/payment.js'
import type { JobEvent } from './index.js'
import { hasJobEnded, type SolanaJob } from './job.js'

/** State of a job's payment: a node's answer, combined with the outcome that the payment watcher has stored. */
export type JobPaymentState =
  /** The job can be executed. */
  | { is: 'held' }
  /** The job's effect is on chain. Another sender may have caused it. */
  | { is: 'done' }
  /** The job can no longer be executed. */
  | { is: 'lost'; reason: ParkReason }
  /** The payment is decided, but the watcher has not read its outcome yet. */
  | { is: 'unknown' }

/**
 * Combines a node's answer with the stored outcome. Only an outcome ends a job.
 * @param isHeld true if any node shows the payment as undecided
 * @param outcome outcome that the payment watcher has stored, as two nodes returned it where two are configured; null
 * before the watcher has read one
 */
export function paymentStateOfJob(
  kind: JobKind,
  isHeld: boolean,
  outcome: PaymentOutcome | null,
): JobPaymentState {
  if (outcome === null) return { is: isHeld ? 'held' : 'unknown' }
  // a refusal or release of a payment for a community name is done with any outcome
  const isBack = outcome !== 'released'
  if (kind === 'refuse' || kind === 'release' || isBack === (kind === 'refund'))
    return { is: 'done' }
  if (outcome === 'reclaimed') return { is: 'lost', reason: outcome }
  return { is: 'lost', reason: isBack ? 'refunded_elsewhere' : 'settled_elsewhere' }
}

/**
 * State of a job's signed transaction and payment on the Solana cluster. The height is read before the status, so that
 * a transaction included in between is not taken for expired.
 */
export interface SolanaJobSnapshot {
  /** Height of the newest confirmed block of the node that gave `status`. */
  height: number
  /** Height that this node and, where two are configured, two nodes have reached. 0 while fewer answer. */
  agreedHeight: number
  /** Time since the job's row last changed, ms. A signature changes the row. */
  unchangedMs: number
  /** Null: no block that the node knows contains the transaction. */
  status: SolanaTxStatus | null
  /** Null while it has not been read. For a job with a transaction, it is read after `height`. */
  payment: JobPaymentState | null
}

export type SolanaJobAction =
  | { do: 'wait' }
  /** Read the payment's account on the Solana cluster. */
  | { do: 'look' }
  | { do: 'sign' }
  /** Send the signed bytes, perhaps again: no block contains the transaction. */
  | { do: 'broadcast'; tx: SolanaJobTx }
  | { do: 'record'; event: JobEvent<SolanaJobTx> }

/** Time after which a blockhash is no longer valid, ms. 150 blocks take one or two minutes. */
export const MAX_VALID_MS = 600_000
/** Maximum number of blocks by which a true last block is ahead: 150, and 150 for a node that is behind. */
const MAX_VALID_BLOCKS = 300

/**
 * True once no block can include a transaction: two nodes are past its last block. A node that lies or stands still may
 * hide this, and the last block itself is one node's answer. So after `MAX_VALID_MS` one node that is past the last
 * block is enough, or one that shows it to be too far ahead to be true. While the cluster halts, neither is the case.
 */
function isTooLate(
  { lastValidHeight }: SolanaJobTx,
  { height, agreedHeight, unchangedMs }: SolanaJobSnapshot,
): boolean {
  if (agreedHeight > lastValidHeight) return true
  const isPending = height <= lastValidHeight && lastValidHeight <= height + MAX_VALID_BLOCKS
  return unchangedMs > MAX_VALID_MS && !isPending
}

/** Decides the next action of a job from its state on the cluster. Pure: the relayer executes the action. */
export function planSolanaJobStep(job: SolanaJob, seen: SolanaJobSnapshot): SolanaJobAction {
  const { status, payment } = seen
  if (hasJobEnded(job)) return { do: 'wait' }
  if (job.state === 'queued') return payment ? planByPayment(job, payment) : { do: 'look' }
  const tx = job.txs[0]!
  const isLate = isTooLate(tx, seen)
  if (status) {
    if (!status.isConfirmed) return { do: 'wait' }
    if (status.error === null) return planSucceededTx(payment, isLate)
    return recordAction({ is: 'expired', feeWei: 0n, reason: status.error })
  }
  if (!isLate) return { do: 'broadcast', tx }
  return payment ? planByPayment(job, payment) : { do: 'look' }
}

/**
 * Action for a job whose transaction succeeded and is confirmed. Only the outcome of the payment that the watcher read
 * ends the job, never one node's answer.
 */
function planSucceededTx(payment: JobPaymentState | null, isLate: boolean): SolanaJobAction {
  if (payment === null) return { do: 'look' }
  if (payment.is === 'held' && isLate) return expireAction('expired')
  return payment.is === 'held' || payment.is === 'unknown'
    ? { do: 'wait' }
    : recordAction({ is: 'confirmed', feeWei: 0n })
}

/**
 * Action for a queued job, or a job whose transaction has expired. By the payment's state, the job is signed, queued
 * again, confirmed or parked.
 */
function planByPayment(job: SolanaJob, payment: JobPaymentState): SolanaJobAction {
  switch (payment.is) {
    case 'held':
      // `job.reason` is set if a node refused the transaction, which is why no block includes the transaction
      return job.state === 'queued' ? { do: 'sign' } : expireAction(job.reason ?? 'expired')
    case 'done':
      return recordAction({ is: 'confirmed', feeWei: 0n })
    case 'lost':
      return recordAction({ is: 'parked', reason: payment.reason })
    case 'unknown':
      // the watcher will read the transaction that closed the payment's account
      return job.state === 'queued'
        ? recordAction({ is: 'failed', failure: { class: 'transient', reason: 'closed_unseen' } })
        : expireAction('closed_unseen')
  }
}

const expireAction = (reason: string): SolanaJobAction =>
  recordAction({ is: 'expired', feeWei: 0n, reason })
const recordAction = (event: JobEvent<SolanaJobTx>): SolanaJobAction => ({ do: 'record', event })
