import type { EvmJobState, MinedReceipt } from '../../chains/evm/jobView.js'
import type { SignOrder, SimulatedTx } from '../../chains/evm/signer.js'
import { BACKOFF_PAUSES_MS, backoffPauseMs } from '../../ops/waiting.js'
import {
  type EvmJobTx,
  type JobProgress,
  type JobTx,
  type ParkReason,
  REFUSED_BY_NODES,
  type TxFailure,
  type TxPurpose,
} from '../../registry/outbox.js'
import { toParkedJob } from './job.js'

/**
 * This module is the state machine of jobs, pure. `planEvmJobStep` (nonce.ts) and `planSolanaJobStep` (blockhash.ts)
 * choose the next action from the stored job and its state on the chain. `applyJobEvent` changes the job by an event. A
 * job gets another nonce only after a confirmed transaction used its nonce without executing the job. It gets another
 * blockhash only after its blockhash expired, or its transaction failed in a confirmed block.
 */

/** Time and randomness for a decision about a job. */
export interface JobDecisionContext {
  nowMs: number
  /** Random number in [0, 1), for the jitter. */
  random: number
}

/** State of a job on its EVM chain, with the time and randomness for the decision about the job's next action. */
export interface EvmJobSnapshot extends EvmJobState, JobDecisionContext {
  /** Result of the action `prepare`. Null before. */
  prepared: SimulatedTx | null
}

export interface SpendPolicy {
  /**
   * Highest cost of a job, wei: value and gas of all its attempts. A batch may cost this amount for each of its jobs.
   */
  spendCapWei: bigint
  /** Highest price of a unit of gas in any signed transaction. */
  gasPriceCapWei: bigint
}

/** Blocks without inclusion after which a transaction is replaced. */
export const REPLACE_AFTER_BLOCKS = 2
/** Blocks after which a transaction below the base fee is cancelled, where a cap forbids a higher fee. */
export const CANCEL_AFTER_BLOCKS = 10

export type EvmJobAction =
  | { do: 'wait' }
  /** Simulate, and estimate gas and fees. */
  | { do: 'prepare'; purpose: TxPurpose }
  /** Sign and store. `nonce` null: take the signer's next nonce in the same database transaction. */
  | ({ do: 'sign'; nonce: number | null } & SignOrder)
  | { do: 'broadcast'; tx: EvmJobTx }
  | { do: 'record'; event: JobEvent<EvmJobTx> }

export type JobEvent<Tx extends JobTx> =
  /** `nonce` null: the transaction is valid until its blockhash expires. */
  | { is: 'signed'; nonce: number | null; tx: Tx }
  | { is: 'sent'; hash: string }
  /** Nodes refused the transaction, or too few answered. */
  | { is: 'refused'; hash: string; reason: string }
  /** An attempt without a new transaction: for example, the simulation failed, or fees exceed a cap. */
  | { is: 'failed'; failure: TxFailure }
  | { is: 'included'; hash: MinedReceipt['hash']; block: number }
  /** The block with the transaction was replaced. */
  | { is: 'reorged' }
  /** The job's transactions can no longer execute it: their nonce is used, their blockhash expired, or they failed. */
  | { is: 'expired'; feeWei: bigint; reason: string }
  | { is: 'confirmed'; feeWei: bigint }
  | { is: 'parked'; reason: ParkReason }

/**
 * Returns the job as it is after an event. Pure.
 * @param at `head`: number of the newest block, needed only for the event `sent` of a job with a nonce
 */
export function applyJobEvent<Tx extends JobTx>(
  job: JobProgress<Tx>,
  event: JobEvent<Tx>,
  at: JobDecisionContext & { head?: number },
): JobProgress<Tx> {
  switch (event.is) {
    case 'signed': {
      const { nonce, tx } = event
      return { ...job, state: 'signed', nonce, txs: nonce === null ? [tx] : [...job.txs, tx] }
    }
    case 'sent':
      if (job.nonce === null) return { ...job, state: 'sent', reason: null }
      return {
        ...changeTx(job, event.hash, { sentBlock: at.head ?? null, isRejected: false }),
        state: 'sent',
      }
    case 'refused':
      return applyRefusal(job, event.hash, event.reason, at)
    case 'failed':
      return applyFailure(job, event.failure, at)
    case 'included':
      return { ...job, state: 'included', included: { hash: event.hash, block: event.block } }
    case 'reorged':
      return {
        ...changeTx(job, job.txs.at(-1)!.hash, { sentBlock: null }),
        state: 'signed',
        included: null,
      }
    case 'expired':
      return applyExpiry(job, event.feeWei, event.reason, at)
    case 'confirmed':
      return {
        ...job,
        state: 'confirmed',
        reason: null,
        release: null,
        nextMs: 0,
        spentWei: job.spentWei + event.feeWei,
      }
    case 'parked':
      return toParkedJob(job, event.reason)
  }
}

/**
 * Changes a job whose transaction no node accepted. The nodes' error text decides nothing: the account's nonce and the
 * next simulation do. Another node may have the transaction, so a job with a blockhash keeps its state until its
 * blockhash expires.
 */
function applyRefusal<Tx extends JobTx>(
  job: JobProgress<Tx>,
  hash: string,
  reason: string,
  at: JobDecisionContext,
): JobProgress<Tx> {
  if (job.nonce === null) return { ...job, reason }
  const paused = withBackOff(job, reason, at)
  return reason === REFUSED_BY_NODES ? changeTx(paused, hash, { isRejected: true }) : paused
}

function applyFailure<Tx extends JobTx>(
  job: JobProgress<Tx>,
  failure: TxFailure,
  at: JobDecisionContext,
): JobProgress<Tx> {
  const paused = withBackOff(job, failure.reason, at)
  if (failure.class === 'transient') return paused
  if (job.nonce === null)
    return failure.class === 'permanent'
      ? toParkedJob(paused, failure.reason)
      : { ...paused, alone: true }
  // a cancel that fails its simulation keeps its nonce and tries again
  if (job.release !== null || isCancelling(job)) return paused
  const release = failure.class === 'permanent' ? failure.reason : 'queue'
  return { ...paused, nextMs: at.nowMs, release, alone: true }
}

const isCancelling = ({ txs }: JobProgress): boolean => {
  const last = txs.at(-1)
  return last !== undefined && 'purpose' in last && last.purpose === 'cancel'
}

function applyExpiry<Tx extends JobTx>(
  job: JobProgress<Tx>,
  feeWei: bigint,
  reason: string,
  at: JobDecisionContext,
): JobProgress<Tx> {
  const free: JobProgress<Tx> = {
    ...job,
    spentWei: job.spentWei + feeWei,
    nonce: null,
    txs: [],
    included: null,
  }
  if (job.release !== null && job.release !== 'queue') return toParkedJob(free, job.release)
  return { ...withBackOff(free, reason, at), state: 'queued', release: null, alone: true }
}

function withBackOff<Job extends JobProgress>(
  job: Job,
  reason: string,
  { nowMs, random }: JobDecisionContext,
): Job {
  const failures = job.failures + 1
  return { ...job, failures, reason, nextMs: nowMs + backoffMs(job, failures, random) }
}

function changeTx<Tx extends JobTx>(
  job: JobProgress<Tx>,
  hash: string,
  change: Partial<EvmJobTx>,
): JobProgress<Tx> {
  return { ...job, txs: job.txs.map((tx) => (tx.hash === hash ? { ...tx, ...change } : tx)) }
}

/** Each pause varies by up to this fraction, so that jobs that failed together do not retry together. */
const JITTER_FRACTION = 0.2
/**
 * Longest pause before the next attempt of a job for which others wait, ms: a payer waits for a refusal (their money
 * back), and all later transactions of the signer wait for a job that holds a nonce.
 */
const MAX_AWAITED_PAUSE_MS = 60_000

/**
 * Pause before the next attempt, ms.
 * @param failures number of failed attempts, at least 1
 * @param random in [0, 1)
 */
export function backoffMs(
  { kind, nonce }: Pick<JobProgress, 'kind' | 'nonce'>,
  failures: number,
  random: number,
): number {
  const jittered = Math.round(
    backoffPauseMs(failures, BACKOFF_PAUSES_MS.job) * (1 + JITTER_FRACTION * (2 * random - 1)),
  )
  return kind === 'refuse' || nonce !== null ? Math.min(jittered, MAX_AWAITED_PAUSE_MS) : jittered
}
