import type { Hex } from '../chains/chain.js'
import type { Fees } from './fees.js'

/**
 * A delivery brings one message to a chain, in a transaction of a signer of ours, at most once:
 * queued → signed → sent → included → confirmed, or parked (machine.ts).
 *
 * Why a message is executed at most once: everything signed for a delivery carries one nonce, and it gets another one only
 * after a confirmed transaction has used that nonce without delivering. Why none is forgotten: each state but the two ends
 * has something to do or to wait for, and what was signed is stored before it is sent.
 */
export type DeliveryState = 'queued' | 'signed' | 'sent' | 'included' | 'confirmed' | 'parked'

/** A cancel is a transfer of nothing to the signer itself: it uses a nonce up, so that those behind it can go on. */
export type Purpose = 'deliver' | 'cancel'

/** Why an operator has to look at a delivery. */
export type ParkReason =
  | 'operator'
  | 'spend_cap'
  | 'permanent_error'
  | 'nonce_taken'
  /** Not from a spoke of ours to our hub (judge.ts). */
  | 'foreign_packet'
  /** The packet's options are not the one form that is paid for. */
  | 'bad_options'
  /** The options deliver another value than the message asks for. */
  | 'value_mismatch'
  /** The payment keeps to no quote of ours, or isn't believed. */
  | 'foreign_payment'
  /** A payment that bought nothing was not given back in time: it is its recipient's. */
  | typeof HOLD_OVER
  /** A payment is to be given back on a chain that names no payments contract. */
  | 'no_payments_contract'

/** In the words of the payments contract. */
export const HOLD_OVER = 'hold_over'

export interface SignedTx extends Fees {
  hash: Hex
  /** The signed bytes. */
  raw: Hex
  purpose: Purpose
  gas: bigint
  valueWei: bigint
  /** Head of the chain when a node last took it, null before. */
  sentBlock: number | null
  /** A node refused it for its fees. */
  isRejected: boolean
}

export interface Delivery {
  /** Unique among deliveries: names the message and what is done with it. */
  id: string
  state: DeliveryState
  /** What the message is given, wei. */
  valueWei: bigint
  nonce: number | null
  /** All that was signed at this nonce, oldest first; each offers more than the one before. */
  txs: readonly SignedTx[]
  /** Where one of them was mined, unconfirmed. */
  included: { hash: Hex; block: number } | null
  /** Attempts that failed; the pause grows with it. */
  failures: number
  /** Nothing is attempted before. */
  nextMs: number
  /** Burnt for gas by attempts that did not deliver, and by the one that did. */
  spentWei: bigint
  /** What failed last; the status of the message shows it. */
  reason: string | null
  /** Once the nonce is free: back to the queue, or parked. null: go on delivering. */
  release: 'queue' | ParkReason | null
}

/** A delivery that has just been queued. */
export const newDelivery = (id: string, valueWei: bigint): Delivery => ({
  id,
  state: 'queued',
  valueWei,
  nonce: null,
  txs: [],
  included: null,
  failures: 0,
  nextMs: 0,
  spentWei: 0n,
  reason: null,
  release: null,
})

/** Parks a delivery on the operator's word. A nonce that it holds is used up by a cancel first. */
export function park(delivery: Delivery): Delivery {
  if (delivery.state === 'confirmed' || delivery.state === 'parked') return delivery
  return delivery.nonce === null ? parked(delivery, 'operator') : { ...delivery, release: 'operator', nextMs: 0 }
}

/** Takes a parked delivery up again, with what it has spent and how often it failed. */
export function resume(delivery: Delivery): Delivery {
  if (delivery.state === 'parked') return { ...delivery, state: 'queued', reason: null }
  if (delivery.release !== 'operator') return delivery
  // once a cancel is out, the message goes on at another nonce
  const isCancelled = delivery.txs.some(({ purpose }) => purpose === 'cancel')
  return { ...delivery, release: isCancelled ? 'queue' : null }
}

/** The same, at once and as if nothing had failed or been spent before: the spend cap counts anew. */
export function retry(delivery: Delivery): Delivery {
  if (delivery.state === 'confirmed') return delivery
  return { ...resume(delivery), failures: 0, nextMs: 0, spentWei: 0n }
}

/** The delivery as it is parked: it holds no nonce. */
export const parked = (delivery: Delivery, reason: ParkReason): Delivery => ({
  ...delivery,
  state: 'parked',
  nonce: null,
  txs: [],
  included: null,
  reason,
  release: null,
  nextMs: 0,
})
