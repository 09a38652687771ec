import {
  type JobProgress,
  PARKED_BELOW_REFUSAL_COST,
  type ParkReason,
  type SolanaJobTx,
} from '../../registry/outbox.js'

/**
 * A job delivers one message to a chain, or takes one action on a payment, in a transaction of our signer: queued →
 * signed → sent → included → confirmed, or parked (index.ts).
 * Messages are executed at most once: all transactions of a delivery share a nonce. Another nonce follows only after a
 * confirmed transaction has used the first nonce without delivering. No job is forgotten: every state that is not final
 * has an action or a wait, and transactions are stored before they are sent.
 * Payments are refunded at most once: the program closes the account and refuses a second refund. A closed quote may be
 * paid again with the same account. So a new transaction requires that the last blockhash has expired in confirmed
 * blocks, and that the account, read in a later slot, still has the payment of the job's sequence.
 */
export type { EvmJob } from '../../chains/evm/jobView.js'
export type SolanaJob = JobProgress<SolanaJobTx>

/** Parks a job once no signed transaction can be mined any more. A cancel first uses up the job's nonce. */
export function parkJobOnceUnmineable<Job extends JobProgress>(job: Job): Job {
  if (hasJobEnded(job)) return job
  return job.state === 'queued'
    ? toParkedJob(job, 'operator')
    : { ...job, release: 'operator', nextMs: 0 }
}

/** Resumes a parked job, or revokes an operator's request to park it. The job keeps its spending and failures. */
export function resumeJob<Job extends JobProgress>(job: Job): Job {
  // a job that was parked for its cost is sent alone, so that the job is not parked again
  if (job.state === 'parked')
    return {
      ...job,
      state: 'queued',
      reason: null,
      alone: job.alone || job.reason === PARKED_BELOW_REFUSAL_COST,
    }
  if (job.release !== 'operator') return job
  // if a cancel was sent, the message continues with another nonce
  const isCancelled = job.txs.some((tx) => 'purpose' in tx && tx.purpose === 'cancel')
  return { ...job, release: isCancelled ? 'queue' : null }
}

/** Resumes a job, ends its back-off, and resets its failures and spending. A confirmed job stays as it is. */
export function retryJob<Job extends JobProgress>(job: Job): Job {
  if (job.state === 'confirmed') return job
  return { ...resumeJob(job), failures: 0, nextMs: 0, spentWei: 0n }
}

/** Returns the job in the state `parked`, without a nonce. */
export function toParkedJob<Job extends JobProgress>(job: Job, reason: ParkReason): Job {
  return {
    ...job,
    state: 'parked',
    nonce: null,
    txs: [],
    included: null,
    reason,
    release: null,
    nextMs: 0,
  }
}

export const hasJobEnded = ({ state }: JobProgress): boolean =>
  state === 'confirmed' || state === 'parked'
