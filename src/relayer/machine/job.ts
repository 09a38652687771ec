import {
  type JobProgress,
  PARKED_BELOW_REFUSAL_COST,
  type ParkReason,
  type SolanaJobTx,
} from '../../registry/outbox.js'

/**
 * A job takes one action for a message or a payment, or uses up a nonce, in a transaction of our signer: queued →
 * signed → sent → included → confirmed, or parked (index.ts).
 * Messages are executed at most once: all transactions of a delivery share a nonce. Another nonce follows only after a
 * confirmed transaction has used the first nonce without delivering. No job is forgotten: every state that is not final
 * has an action or a wait, and transactions are stored before they are sent.
 * Payments are refunded at most once: the program closes the account and refuses a second refund. A closed quote may be
 * paid again with the same account. So a new transaction requires that the last one failed in a confirmed block, or
 * that its blockhash expired and the account, read in a later slot, still holds the payment with this sequence number.
 */
export type { EvmJob } from '../../chains/evm/jobView.js'
export type SolanaJob = JobProgress<SolanaJobTx>

/**
 * Parks a queued job. For a job with signed transactions, stores the request to park it once none of them can be mined
 * any more: a cancel uses up its nonce, or its blockhash expires.
 */
export function parkJobOnceUnmineable<Job extends JobProgress>(job: Job): Job {
  if (hasJobEnded(job)) return job
  return job.state === 'queued'
    ? toParkedJob(job, 'operator')
    : { ...job, release: 'operator', nextMs: 0 }
}

/**
 * Resumes a parked job, or withdraws an operator's request to park a job. The job keeps its spending and failures. Any
 * other job stays as it is.
 */
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
  // if a cancel was signed, the job continues with another nonce
  const isCancelled = job.txs.some((tx) => 'purpose' in tx && tx.purpose === 'cancel')
  return { ...job, release: isCancelled ? 'queue' : null }
}

/** Resumes a job, ends its back-off, and resets its failures and spending. A confirmed job stays as it is. */
export function retryJob<Job extends JobProgress>(job: Job): Job {
  if (job.state === 'confirmed') return job
  return { ...resumeJob(job), failures: 0, nextMs: 0, spentWei: 0n }
}

/** Returns the job in the state `parked`, without nonce and transactions. */
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
