import type { BlockhashTx, JobKind, JobProgress, JobTx, NonceTx, ParkReason } from '../../registry/outbox.js'

/**
 * A job brings one message to a chain, or does one thing about a payment, in a transaction of a signer of ours, at most
 * once: queued → signed → sent → included → confirmed, or parked (machine.ts).
 *
 * Why a message is executed at most once: everything signed for a delivery carries one nonce, and it gets another one
 * only after a confirmed transaction has used that nonce without delivering. Why none is forgotten: each state but the
 * two ends has something to do or to wait for, and what was signed is stored before it is sent.
 *
 * Why a payment is paid back at most once: the program closes its account and refuses a second time. A closed quote may
 * be paid again under the same account, so nothing is signed anew before the last transaction's blockhash has expired
 * in confirmed blocks and the account, read in a later slot, still holds the payment of the job's sequence.
 */
export type NonceJob = JobProgress<NonceTx>
export type BlockhashJob = JobProgress<BlockhashTx>

/** A job that was just queued. */
export function newJob<Tx extends JobTx>(id: string, kind: JobKind, valueWei = 0n): JobProgress<Tx> {
  return {
    ...{ id, kind, state: 'queued', valueWei, nonce: null, txs: [], included: null, failures: 0, nextMs: 0 },
    ...{ spentWei: 0n, reason: null, release: null },
  }
}

/** Parks a job on the operator's word, once nothing signed can count any more: a cancel uses its nonce up first. */
export function park<Job extends JobProgress>(job: Job): Job {
  if (hasEnded(job)) return job
  return job.state === 'queued' ? parked(job, 'operator') : { ...job, release: 'operator', nextMs: 0 }
}

/** Takes a parked job up again, with its spending and its failures. */
export function resume<Job extends JobProgress>(job: Job): Job {
  if (job.state === 'parked') return { ...job, state: 'queued', reason: null }
  if (job.release !== 'operator') return job
  // once a cancel is out, the message goes on at another nonce
  const isCancelled = job.txs.some((tx) => 'purpose' in tx && tx.purpose === 'cancel')
  return { ...job, release: isCancelled ? 'queue' : null }
}

/** Resumes at once and as if nothing had failed or been spent before: the spend cap counts anew. */
export function retry<Job extends JobProgress>(job: Job): Job {
  if (job.state === 'confirmed') return job
  return { ...resume(job), failures: 0, nextMs: 0, spentWei: 0n }
}

/** A parked job holds no nonce. */
export function parked<Job extends JobProgress>(job: Job, reason: ParkReason): Job {
  return { ...job, state: 'parked', nonce: null, txs: [], included: null, reason, release: null, nextMs: 0 }
}

export const hasEnded = ({ state }: JobProgress): boolean => state === 'confirmed' || state === 'parked'
