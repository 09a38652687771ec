import type { Hex } from '../chains/chain.js'
import { backoffMs } from './backoff.js'
import { type Delivery, HOLD_OVER, type ParkReason, type Purpose, parked, type SignedTx } from './delivery.js'
import type { Failure } from './errors.js'
import { bumpFees, type Fees, maxCostWei, raiseFees } from './fees.js'

/**
 * The state machine of deliveries, pure: `plan` says what to do next, from the stored delivery and what the chain shows;
 * `apply` how the stored delivery changes by what happened. converge.ts carries them out.
 */
export interface Mined {
  hash: Hex
  block: number
  succeeded: boolean
  isConfirmed: boolean
  /** Gas used times its price. */
  feeWei: bigint
}

/** Gas and fees of a transaction that a node has simulated, or why it would fail. */
export type Prepared = { gas: bigint; fees: Fees } | { failure: Failure }

/** What the chain shows now. The nonce has to be read before the receipts, else a transaction mined in between looks lost. */
export interface Seen {
  nowMs: number
  /** In [0, 1), for the jitter. */
  random: number
  /** Number of the newest block. */
  head: number
  /** Whether the message has been executed, by whomever. */
  delivered: 'no' | 'unconfirmed' | 'confirmed'
  /** The delivery's nonce: behind another unused one, the signer's next, used in some block, used in a confirmed one. */
  nonce: 'later' | 'next' | 'unconfirmed' | 'confirmed'
  /** The receipt of whichever of its transactions has one. */
  mined: Mined | null
  /** Every node was asked for each of its transactions. */
  hasSearched: boolean
  prepared: Prepared | null
}

export interface Policy {
  /** The most that a message may cost, value and gas of all attempts together. */
  spendCapWei: bigint
  /** Blocks without inclusion after which a transaction is replaced. */
  replaceAfterBlocks: number
  /** How soon to look again when only the chain can bring news. */
  pollMs: number
}

export const REPLACE_AFTER_BLOCKS = 2

export type WaitReason = 'backoff' | 'executed_by_another' | 'inclusion' | 'confirmations' | 'receipt'

export type Action =
  | { do: 'rest' }
  | { do: 'wait'; untilMs: number; why: WaitReason }
  /** Ask every node for each of the delivery's transactions. */
  | { do: 'search' }
  /** Simulate, and estimate gas and fees. */
  | { do: 'prepare'; purpose: Purpose }
  /** Sign and store; `nonce` null: take the signer's next in the same database transaction. */
  | { do: 'sign'; purpose: Purpose; nonce: number | null; gas: bigint; fees: Fees; valueWei: bigint }
  | { do: 'broadcast'; tx: SignedTx }
  | { do: 'record'; event: Event }

export type Event =
  | { is: 'signed'; nonce: number; tx: SignedTx }
  | { is: 'sent'; hash: Hex }
  | { is: 'refused'; hash: Hex; failure: Failure }
  /** Nothing was sent: the simulation or a question to the node failed, or the fees are above the cap. */
  | { is: 'failed'; failure: Failure }
  | { is: 'included'; hash: Hex; block: number }
  | { is: 'reorged' }
  /** A confirmed transaction used the nonce and delivered nothing. */
  | { is: 'settled'; feeWei: bigint; reason: string }
  | { is: 'delivered'; feeWei: bigint }
  | { is: 'parked'; reason: ParkReason }

/** What to do next. */
export function plan(delivery: Delivery, seen: Seen, policy: Policy): Action {
  if (delivery.state === 'confirmed' || delivery.state === 'parked') return { do: 'rest' }
  if (delivery.nonce === null) return planQueued(delivery, seen, policy)
  if (seen.mined) return planMined(delivery, seen, seen.mined, policy)
  if (seen.nonce === 'unconfirmed' || seen.nonce === 'confirmed') return planUsed(seen, policy)
  return planUnused(delivery, seen, policy)
}

function planQueued(delivery: Delivery, seen: Seen, policy: Policy): Action {
  if (seen.delivered === 'confirmed') return record({ is: 'delivered', feeWei: 0n })
  if (seen.delivered === 'unconfirmed') return poll(seen, policy, 'executed_by_another')
  if (seen.nowMs < delivery.nextMs) return { do: 'wait', untilMs: delivery.nextMs, why: 'backoff' }
  if (!seen.prepared) return { do: 'prepare', purpose: 'deliver' }
  if ('failure' in seen.prepared) return record({ is: 'failed', failure: seen.prepared.failure })
  const { gas, fees } = seen.prepared
  const { valueWei } = delivery
  const costWei = maxCostWei(gas, fees, valueWei)
  if (delivery.spentWei + costWei > policy.spendCapWei) {
    // fees fall again, but what is burnt, and the value, stay
    const isHopeless = valueWei > policy.spendCapWei || costWei <= policy.spendCapWei
    return record(
      isHopeless
        ? { is: 'parked', reason: 'spend_cap' }
        : { is: 'failed', failure: { class: 'transient', reason: 'fees_above_cap' } },
    )
  }
  return { do: 'sign', purpose: 'deliver', nonce: null, gas, fees, valueWei }
}

/** One of its transactions is in a block. */
function planMined(delivery: Delivery, seen: Seen, mined: Mined, policy: Policy): Action {
  if (!mined.isConfirmed) {
    const isKnown = delivery.included?.hash === mined.hash && delivery.included.block === mined.block
    return isKnown
      ? poll(seen, policy, 'confirmations')
      : record({ is: 'included', hash: mined.hash, block: mined.block })
  }
  const { feeWei, succeeded } = mined
  const purpose = delivery.txs.find(({ hash }) => hash === mined.hash)?.purpose
  if (seen.delivered === 'confirmed' || (succeeded && purpose === 'deliver')) return record({ is: 'delivered', feeWei })
  return record({ is: 'settled', feeWei, reason: purpose === 'cancel' ? (delivery.reason ?? 'cancelled') : 'reverted' })
}

/** Its nonce is used, and no receipt of its own was seen: never taken for a reason to send at another nonce. */
function planUsed(seen: Seen, policy: Policy): Action {
  if (!seen.hasSearched) return { do: 'search' }
  if (seen.nonce === 'unconfirmed') return poll(seen, policy, 'receipt')
  if (seen.delivered === 'confirmed') return record({ is: 'delivered', feeWei: 0n })
  if (seen.delivered === 'unconfirmed') return poll(seen, policy, 'executed_by_another')
  return record({ is: 'parked', reason: 'nonce_taken' })
}

/** Its nonce is unused: all that was signed may be sent again, or be replaced. */
function planUnused(delivery: Delivery, seen: Seen, policy: Policy): Action {
  if (delivery.state === 'included') return record({ is: 'reorged' })
  const tx = delivery.txs.at(-1)!
  const isUnwanted = delivery.release !== null || seen.delivered === 'confirmed'
  if (seen.delivered === 'unconfirmed' && !isUnwanted) return poll(seen, policy, 'executed_by_another')
  if (seen.nowMs < delivery.nextMs) return { do: 'wait', untilMs: delivery.nextMs, why: 'backoff' }
  // a nonce that was ever given to a cancel is not taken back: both are out
  const purpose = isUnwanted || delivery.txs.some((other) => other.purpose === 'cancel') ? 'cancel' : 'deliver'
  if (tx.sentBlock === null && !tx.isRejected) {
    return purpose === tx.purpose ? { do: 'broadcast', tx } : replace(delivery, seen, policy, purpose)
  }
  if (!tx.isRejected && seen.head - tx.sentBlock! < policy.replaceAfterBlocks) return poll(seen, policy, 'inclusion')
  // behind another nonce no fee helps; the node may have dropped it, so it is sent again
  if (seen.nonce === 'later' && !tx.isRejected && purpose === tx.purpose) return { do: 'broadcast', tx }
  return replace(delivery, seen, policy, purpose)
}

/** The same nonce with higher fees; where these may not rise, what is out already goes out again. */
function replace(delivery: Delivery, seen: Seen, policy: Policy, purpose: Purpose): Action {
  if (!seen.prepared) return { do: 'prepare', purpose }
  if ('failure' in seen.prepared) return record({ is: 'failed', failure: seen.prepared.failure })
  const tx = delivery.txs.at(-1)!
  const { gas } = seen.prepared
  // the first cancel has to push out what it replaces, whatever that offers; it costs little
  const isSwitch = purpose !== tx.purpose
  const fees = isSwitch ? raiseFees(tx, seen.prepared.fees) : bumpFees(tx, seen.prepared.fees)
  const valueWei = purpose === 'deliver' ? delivery.valueWei : 0n
  // a cancel is cheap and frees the nonces behind it: no cap holds it back
  const isWithinCap =
    purpose === 'cancel' || (fees !== null && delivery.spentWei + maxCostWei(gas, fees, valueWei) <= policy.spendCapWei)
  if (!fees || !isWithinCap) return { do: 'broadcast', tx }
  return { do: 'sign', purpose, nonce: delivery.nonce, gas, fees, valueWei }
}

const record = (event: Event): Action => ({ do: 'record', event })
const poll = (seen: Seen, policy: Policy, why: WaitReason): Action => ({
  do: 'wait',
  untilMs: seen.nowMs + policy.pollMs,
  why,
})

/** The delivery after an event. */
export function apply(delivery: Delivery, event: Event, seen: Pick<Seen, 'nowMs' | 'random' | 'head'>): Delivery {
  switch (event.is) {
    case 'signed':
      return { ...delivery, state: 'signed', nonce: event.nonce, txs: [...delivery.txs, event.tx] }
    case 'sent':
      return { ...withTx(delivery, event.hash, { sentBlock: seen.head, isRejected: false }), state: 'sent' }
    case 'refused':
      return refused(delivery, event.hash, event.failure, seen)
    case 'failed':
      return failed(delivery, event.failure, seen)
    case 'included':
      return { ...delivery, state: 'included', included: { hash: event.hash, block: event.block } }
    case 'reorged': {
      const again = withTx(delivery, delivery.txs.at(-1)!.hash, { sentBlock: null })
      return { ...again, state: 'signed', included: null }
    }
    case 'settled':
      return settled(delivery, event.feeWei, event.reason, seen)
    case 'delivered':
      return {
        ...delivery,
        state: 'confirmed',
        spentWei: delivery.spentWei + event.feeWei,
        reason: null,
        release: null,
        nextMs: 0,
      }
    case 'parked':
      return parked(delivery, event.reason)
  }
}

/** A node would not take it. */
function refused(
  delivery: Delivery,
  hash: Hex,
  failure: Failure,
  seen: Pick<Seen, 'nowMs' | 'random' | 'head'>,
): Delivery {
  if (failure.class === 'known') return apply(delivery, { is: 'sent', hash }, seen)
  const paused = pause(delivery, failure.reason, seen)
  if (failure.class === 'fee') return withTx(paused, hash, { isRejected: true })
  if (delivery.txs.at(-1)!.purpose === 'cancel') return paused
  if (failure.class === 'revert') return { ...paused, release: paused.release ?? 'queue' }
  if (failure.class === 'permanent') return { ...paused, release: 'permanent_error' }
  return paused
}

/** Nothing was sent. With a nonce at hand, a message that can't go through now gives it back by a cancel. */
function failed(delivery: Delivery, failure: Failure, seen: Pick<Seen, 'nowMs' | 'random'>): Delivery {
  const paused = pause(delivery, failure.reason, seen)
  if (failure.class !== 'revert' && failure.class !== 'permanent') return paused
  if (delivery.nonce === null) return failure.class === 'permanent' ? parked(paused, parkReason(failure)) : paused
  // a cancel that fails its simulation keeps its nonce and tries on
  if (delivery.release !== null || delivery.txs.at(-1)!.purpose === 'cancel') return paused
  return { ...paused, nextMs: seen.nowMs, release: failure.class === 'permanent' ? parkReason(failure) : 'queue' }
}

const parkReason = ({ reason }: Failure): ParkReason => (reason === HOLD_OVER ? reason : 'permanent_error')

/** The nonce is used up by a confirmed transaction: nothing signed at it can ever count. */
function settled(delivery: Delivery, feeWei: bigint, reason: string, seen: Pick<Seen, 'nowMs' | 'random'>): Delivery {
  const free: Delivery = { ...delivery, spentWei: delivery.spentWei + feeWei, nonce: null, txs: [], included: null }
  if (delivery.release !== null && delivery.release !== 'queue') return parked(free, delivery.release)
  return { ...pause(free, reason, seen), state: 'queued', release: null }
}

function pause(delivery: Delivery, reason: string, seen: Pick<Seen, 'nowMs' | 'random'>): Delivery {
  const failures = delivery.failures + 1
  return { ...delivery, failures, reason, nextMs: seen.nowMs + backoffMs(failures, seen.random) }
}

const withTx = (delivery: Delivery, hash: Hex, change: Partial<SignedTx>): Delivery => ({
  ...delivery,
  txs: delivery.txs.map((tx) => (tx.hash === hash ? { ...tx, ...change } : tx)),
})
