import {
  baseFeePerGasOf,
  capGasFees,
  doubledGasFees,
  type GasFees,
  maxTransactionCostWei,
  replacementGasFees,
} from '../../chains/evm/gasFees.js'
import type { MinedReceipt } from '../../chains/evm/jobView.js'
import {
  type EvmJobTx,
  REFUSED_BY_NODES,
  type TxFailure,
  type TxPurpose,
  WAITS_FOR_FUNDS,
} from '../../registry/outbox.js'
import {
  CANCEL_AFTER_BLOCKS,
  type EvmJobAction,
  type EvmJobSnapshot,
  type JobEvent,
  REPLACE_AFTER_BLOCKS,
  type SpendPolicy,
} from './index.js'
import { type EvmJob, hasJobEnded } from './job.js'

const WAIT_ACTION: EvmJobAction = { do: 'wait' }

/** Decides the next action of a job from its state on the chain. Pure: the relayer executes the action. */
export function planEvmJobStep(
  job: EvmJob,
  seen: EvmJobSnapshot,
  policy: SpendPolicy,
): EvmJobAction {
  if (hasJobEnded(job)) return WAIT_ACTION
  if (job.nonce === null) return planQueuedJob(job, seen, policy)
  if (seen.mined) return planMinedJob(job, seen, seen.mined)
  if (seen.nonce === 'unconfirmed' || seen.nonce === 'confirmed') return planUsedNonce(job, seen)
  return planUnusedNonce(job, seen, policy)
}

function planQueuedJob(job: EvmJob, seen: EvmJobSnapshot, policy: SpendPolicy): EvmJobAction {
  if (seen.done === 'confirmed') return endDoneJob(job, seen, 0n)
  if (seen.done === 'unconfirmed') return WAIT_ACTION
  if (seen.nowMs < job.nextMs) return WAIT_ACTION
  if (!seen.prepared) return { do: 'prepare', purpose: 'deliver' }
  if ('failure' in seen.prepared) return failAction(seen.prepared.failure)
  const { gas } = seen.prepared
  const fees = capGasFees(seen.prepared.fees, policy.gasPriceCapWei)
  if (!fees) return retryAction('gas_price_above_cap')
  const { valueWei } = job
  const costWei = maxTransactionCostWei(gas, fees, valueWei)
  if (job.spentWei + costWei > policy.spendCapWei) {
    // fees may fall again, or be one node's wrong answer. Gas already paid and the value do not fall.
    const isHopeless = job.spentWei + valueWei >= policy.spendCapWei
    return isHopeless
      ? recordAction({ is: 'parked', reason: 'spend_cap' })
      : retryAction('fees_above_cap')
  }
  return { do: 'sign', purpose: 'deliver', nonce: null, gas, fees, valueWei }
}

/**
 * Action for a job with a mined transaction: record the block, wait for confirmation, then record the outcome. A
 * reverted or cancelled job expires, unless its effect is confirmed on the chain.
 */
function planMinedJob(job: EvmJob, seen: EvmJobSnapshot, mined: MinedReceipt): EvmJobAction {
  const isKnown = job.included?.hash === mined.hash && job.included.block === mined.block
  if (!isKnown && !(mined.isConfirmed && seen.isSure))
    return recordAction({ is: 'included', hash: mined.hash, block: mined.block })
  // a confirmed nonce and effect replace the receipt's confirmation, because a node may have lost the receipt
  if (!mined.isConfirmed && !(seen.nonce === 'confirmed' && seen.done === 'confirmed'))
    return WAIT_ACTION
  const { feeWei, succeeded } = mined
  const purpose = job.txs.find(({ hash }) => hash === mined.hash)?.purpose
  if (succeeded && purpose === 'deliver') return recordAction({ is: 'confirmed', feeWei })
  if (seen.done === 'confirmed') return endDoneJob(job, seen, feeWei)
  return recordAction({
    is: 'expired',
    feeWei,
    reason: purpose === 'cancel' ? (job.reason ?? 'cancelled') : 'reverted',
  })
}

/** Action for a job with a used nonce and no receipt: wait, end or park, but never take another nonce. */
function planUsedNonce(job: EvmJob, seen: EvmJobSnapshot): EvmJobAction {
  if (seen.nonce === 'unconfirmed') return WAIT_ACTION
  if (seen.done === 'confirmed') return endDoneJob(job, seen, 0n)
  if (seen.done === 'unconfirmed') return WAIT_ACTION
  // a single node has to report twice that the nonce is used, with a pause between the reports
  if (!seen.isSure && job.reason !== REPORTED_NONCE_USED) return retryAction(REPORTED_NONCE_USED)
  if (!seen.isSure && seen.nowMs < job.nextMs) return WAIT_ACTION
  return recordAction({ is: 'parked', reason: 'nonce_taken' })
}

/** Reason stored with a job after a single node has reported for the first time that the job is done. */
const REPORTED_DONE = 'said_to_be_done'

/** Ends a job that is done. A single node has to report twice that the job is done, with a pause between. */
function endDoneJob(
  { reason, nextMs }: EvmJob,
  seen: EvmJobSnapshot,
  feeWei: bigint,
): EvmJobAction {
  if (!seen.isSure && reason !== REPORTED_DONE) return retryAction(REPORTED_DONE)
  if (!seen.isSure && seen.nowMs < nextMs) return WAIT_ACTION
  return recordAction({ is: 'confirmed', feeWei })
}

/** Reason stored with a job after a single node has reported for the first time that its nonce is used. */
const REPORTED_NONCE_USED = 'nonce_used'

/** Maximum number of blocks by which the node that accepted a transaction may have been ahead of another node. */
export const MAX_BLOCKS_NODE_IS_AHEAD = 100

/**
 * True if the transaction was sent. Ignores a `sentBlock` far above the head, which a node's wrong answer caused: the
 * job would wait until that block.
 */
const wasSent = ({ sentBlock }: EvmJobTx, { head }: EvmJobSnapshot): boolean =>
  sentBlock !== null && sentBlock <= head + MAX_BLOCKS_NODE_IS_AHEAD

/** True if a node accepted a transaction of the job whose signed bytes are stored: that transaction may be mined. */
export const hasSentTransaction = ({ txs }: EvmJob, seen: EvmJobSnapshot): boolean =>
  txs.some((tx) => tx.raw.length > 0 && wasSent(tx, seen))

/** A job whose nonce no transaction has used, with the values that the rows of `UNUSED_NONCE_DECISIONS` test. */
interface UnusedNonce {
  job: EvmJob
  seen: EvmJobSnapshot
  /** The job's newest transaction. */
  tx: EvmJobTx
  isSent: boolean
  /** Purpose of the transaction that has to use the nonce. */
  purpose: TxPurpose
  /** True if somebody else's transaction may have done the job, and that is not sure enough to cancel ours. */
  isDoneElsewhere: boolean
}

interface UnusedNonceRule {
  name: string
  holds(nonce: UnusedNonce): boolean
  /** `send`: send the newest transaction, perhaps again. `replace`: sign one with higher fees or another purpose. */
  action: 'reorged' | 'wait' | 'send' | 'replace'
}

/** Table of decisions about an unused nonce. The first row whose condition (`holds`) is true decides. */
export const UNUSED_NONCE_DECISIONS: readonly UnusedNonceRule[] = [
  {
    name: 'its block was replaced',
    holds: ({ job }) => job.state === 'included',
    action: 'reorged',
  },
  {
    name: 'somebody else did the job',
    holds: ({ isDoneElsewhere }) => isDoneElsewhere,
    action: 'wait',
  },
  {
    name: 'it pauses after a failure',
    holds: ({ job, seen }) => seen.nowMs < job.nextMs,
    action: 'wait',
  },
  {
    name: 'no node takes it',
    holds: ({ tx }) => tx.isRejected,
    action: 'replace',
  },
  {
    name: 'it was sent a moment ago',
    holds: ({ tx, isSent, seen }) => isSent && seen.head - tx.sentBlock! < REPLACE_AFTER_BLOCKS,
    action: 'wait',
  },
  {
    name: 'it has another purpose',
    holds: ({ tx, purpose }) => tx.purpose !== purpose,
    action: 'replace',
  },
  {
    name: 'it was not sent',
    holds: ({ isSent }) => !isSent,
    action: 'send',
  },
  {
    // while an earlier nonce is unused, higher fees do not help. Nodes may have dropped the transaction, so it is sent.
    name: 'an earlier nonce is unused too',
    holds: ({ seen }) => seen.nonce === 'later',
    action: 'send',
  },
  {
    name: 'no block took it',
    holds: () => true,
    action: 'replace',
  },
]

/** The row that decides about a job with an unused nonce. */
export function unusedNonceDecision(nonce: UnusedNonce): UnusedNonceRule {
  return UNUSED_NONCE_DECISIONS.find(({ holds }) => holds(nonce))!
}

/** Collects the values that the rows of `UNUSED_NONCE_DECISIONS` test. */
export function describeUnusedNonce(job: EvmJob, seen: EvmJobSnapshot): UnusedNonce {
  const tx = job.txs.at(-1)!
  const isSent = wasSent(tx, seen)

  // a noop has no effect to wait for: its transaction is a cancel, and has to be mined
  const isUnwanted =
    job.kind === 'noop' || job.release !== null || (seen.done === 'confirmed' && seen.isSure)
  // once a cancel was signed for the nonce, either the cancel or the delivery may be mined, so the cancel is not undone
  const isCancelled = job.txs.some((other) => other.purpose === 'cancel')

  // one node's answer that the job is done is not enough to cancel. The wait for a second node's answer is limited,
  // because later nonces wait too.
  const isLong = !isSent || seen.head - tx.sentBlock! > MAX_BLOCKS_NODE_IS_AHEAD
  const mayBeDone = seen.done === 'unconfirmed' || (seen.done === 'confirmed' && !isLong)

  return {
    job,
    seen,
    tx,
    isSent,
    purpose: isUnwanted || isCancelled ? 'cancel' : 'deliver',
    isDoneElsewhere: mayBeDone && !isUnwanted,
  }
}

/** Action for an unused nonce, by the first row of `UNUSED_NONCE_DECISIONS` that holds. */
function planUnusedNonce(job: EvmJob, seen: EvmJobSnapshot, policy: SpendPolicy): EvmJobAction {
  const nonce = describeUnusedNonce(job, seen)
  switch (unusedNonceDecision(nonce).action) {
    case 'reorged':
      return recordAction({ is: 'reorged' })
    case 'wait':
      return WAIT_ACTION
    case 'send':
      return { do: 'broadcast', tx: nonce.tx }
    case 'replace':
      return planReplacement(job, seen, policy, nonce.purpose)
  }
}

/**
 * Action: sign a replacement with higher fees, or wait for funds. If a cap forbids higher fees, send the last
 * transaction again, or cancel it if it can't be mined.
 */
function planReplacement(
  job: EvmJob,
  seen: EvmJobSnapshot,
  policy: SpendPolicy,
  purpose: TxPurpose,
): EvmJobAction {
  if (!seen.prepared) return { do: 'prepare', purpose }
  if ('failure' in seen.prepared) return failAction(seen.prepared.failure)
  const tx = job.txs.at(-1)!
  const { gas, fees: fresh, balanceWei } = seen.prepared
  const valueWei = purpose === 'deliver' ? job.valueWei : 0n
  // a cancel frees later nonces, so the job's earlier spending does not count: the cancel may cost up to the job's cap
  const boundWei =
    purpose === 'deliver' ? policy.spendCapWei - job.spentWei - valueWei : policy.spendCapWei
  const affordableWei = boundWei / gas
  const capWei = affordableWei < policy.gasPriceCapWei ? affordableWei : policy.gasPriceCapWei
  const fees = nextFees(tx, purpose, fresh, { capWei, gasPriceCapWei: policy.gasPriceCapWei })
  // nodes refuse a transaction that the balance can't pay, each with its own error text
  const offered = fees ?? (tx.isRejected ? tx : null)
  if (offered && balanceWei < maxTransactionCostWei(gas, offered, valueWei))
    return retryAction(WAITS_FOR_FUNDS)
  if (fees) return { do: 'sign', purpose, nonce: job.nonce, gas, fees, valueWei }
  if (purpose === 'cancel') return { do: 'broadcast', tx }
  if (tx.maxFeePerGas < baseFeePerGasOf(fresh)) return planStuckTx(tx, seen)
  // No node accepts the transaction at the highest price that the caps allow. Fail the job: a cancel then uses its
  // nonce and frees later nonces. If a node accepted an earlier transaction of the job, that one may be mined, so send
  // the last transaction again.
  return tx.isRejected && !hasSentTransaction(job, seen)
    ? failAction({ class: 'revert', reason: REFUSED_BY_NODES })
    : { do: 'broadcast', tx }
}

interface FeeBounds extends Pick<SpendPolicy, 'gasPriceCapWei'> {
  /**
   * Highest price of a unit of gas, wei: the lower of `gasPriceCapWei` and the price that the rest of the job's cap
   * pays.
   */
  capWei: bigint
}

/**
 * Fees of the next transaction with the same nonce. Null if the cap does not allow them. A transaction that no node
 * accepted needs no minimum raise: the next one for the same purpose offers twice its fees, up to the cap, and a cancel
 * offers a fresh estimate. To replace an accepted transaction, nodes require fees that are 10 % higher.
 */
function nextFees(
  tx: EvmJobTx,
  purpose: TxPurpose,
  fresh: GasFees,
  { capWei, gasPriceCapWei }: FeeBounds,
): GasFees | null {
  if (tx.isRejected && tx.purpose !== purpose) return capGasFees(fresh, capWei)
  if (tx.isRejected) return doubledGasFees(tx, fresh, capWei)
  const raised = replacementGasFees(tx, fresh, gasPriceCapWei)
  return raised && raised.maxFeePerGas <= capWei ? raised : null
}

/** Action for a transaction that offers less than the base fee, where a cap forbids more: wait, and later cancel. */
function planStuckTx(tx: EvmJobTx, seen: EvmJobSnapshot): EvmJobAction {
  if (wasSent(tx, seen) && seen.head - tx.sentBlock! < CANCEL_AFTER_BLOCKS) return WAIT_ACTION
  return failAction({ class: 'revert', reason: 'fees_above_cap' })
}

const recordAction = (event: JobEvent<EvmJobTx>): EvmJobAction => ({ do: 'record', event })

const failAction = (failure: TxFailure): EvmJobAction => recordAction({ is: 'failed', failure })

const retryAction = (reason: string): EvmJobAction => failAction({ class: 'transient', reason })
