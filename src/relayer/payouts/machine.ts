import type { RefusalEnd } from '../../chains/solana/payouts.js'
import type { MoneyRow, PayoutFields, PayoutTx } from '../../db/outbox/payoutRows.js'
import { backoffMs } from '../backoff.js'
import { HOLD_OVER } from '../delivery.js'

/**
 * The state machine of payouts, pure. A payout settles or refunds one payment on Solana, or refuses one for a name of a community:
 * queued → signed → sent → confirmed, or parked when somebody else did the opposite, or the hold is over.
 *
 * Why a payment is paid back at most once: the program closes its account, and refuses a second time. And since a quote that was
 * closed may be paid again under the same account, nothing is signed anew before what was signed can't land any more (its
 * blockhash has expired in believed blocks) and the account, read in a later slot, still holds the payment of our sequence.
 * A refusal names its sequence, and the program takes each once.
 * Why none is forgotten: what was signed is stored before it is sent, and each state but the two ends has something to do.
 */

/** What the cluster believes of a transaction. The height has to be read before the status, else one that lands between looks lost. */
export interface TxSeen {
  /** Height of the newest believed block. */
  height: number
  /** null: no block that the node knows holds it. */
  status: { isBelieved: boolean; error: string | null } | null
}

export type TxAction =
  | { do: 'wait' }
  /** Send the same bytes (again): it has not been seen in a block. */
  | { do: 'broadcast' }
  | { do: 'confirm' }
  /** It is in a believed block and changed nothing. */
  | { do: 'requeue'; reason: string }
  /** It can't land any more: see what became of the payments. */
  | { do: 'look' }

/** What to do about a transaction that was signed. */
export function planTx(tx: PayoutTx, seen: TxSeen): TxAction {
  const { status } = seen
  if (status) {
    if (!status.isBelieved) return { do: 'wait' }
    return status.error === null ? { do: 'confirm' } : { do: 'requeue', reason: status.error }
  }
  return seen.height > tx.lastValidHeight ? { do: 'look' } : { do: 'broadcast' }
}

/** Who closed a payment's account. */
export interface Closing {
  kind: MoneyRow['kind']
  signature: Buffer
}

export interface Now {
  nowMs: number
  /** In [0, 1), for the jitter. */
  random: number
}

type Step = (payout: PayoutFields) => PayoutFields

export const signed =
  (tx: PayoutTx): Step =>
  (payout) => ({ ...payout, state: 'signed', tx })

export const sent: Step = (payout) => ({ ...payout, state: 'sent', reason: null })

/** A node would not take it. Others may have it: it keeps its place until it can't land any more. */
export const refused =
  (reason: string): Step =>
  (payout) => ({ ...payout, reason })

export const confirmed: Step = (payout) => ({ ...payout, state: 'confirmed', nextMs: 0, reason: null })

/** Nothing is on its way: another attempt later. */
export const failed =
  (reason: string, { nowMs, random }: Now): Step =>
  (payout) => {
    const failures = payout.failures + 1
    return { ...payout, state: 'queued', tx: null, failures, reason, nextMs: nowMs + backoffMs(failures, random) }
  }

/** The payment's account is closed, though not by a transaction of ours that was seen. */
export const closed =
  (kind: MoneyRow['kind'], closing: Closing | null, now: Now): Step =>
  (payout) => {
    // the node no longer knows what happened to the account: another one may
    if (!closing) return failed('closed_unseen', now)(payout)
    const tx = { signature: closing.signature, raw: Buffer.alloc(0), lastValidHeight: 0 }
    if (closing.kind === kind) return { ...confirmed(payout), tx }
    const reason = closing.kind === 'settle' ? 'settled_elsewhere' : 'refunded_elsewhere'
    return { ...payout, state: 'parked', tx, nextMs: 0, reason }
  }

/** What stood in the way of a transaction by itself: the next one may be the same. */
const PASSING: ReadonlySet<string> = new Set(['expired', 'blockhash_not_found', 'insufficient_funds', 'closed_unseen'])

/**
 * Whether a refusal goes without paying back, which waits then for anybody to send it: what was sent together has failed, and a
 * payer may have seen to that to keep the name.
 */
export const goesAlone = ({ failures, reason }: PayoutFields): boolean =>
  failures > 0 && reason !== null && !PASSING.has(reason)

/** A payment for a name of a community is its payer's again, or paid out. */
export const refusalEnded =
  (end: RefusalEnd | null, now: Now): Step =>
  (payout) => {
    if (!end) return failed('closed_unseen', now)(payout)
    const tx = { signature: end.signature, raw: Buffer.alloc(0), lastValidHeight: 0 }
    if (end.kind !== 'released') return { ...confirmed(payout), tx }
    return { ...heldOver(payout), tx }
  }

/** The hold is over: its recipient has the money, or may fetch it. */
export const heldOver: Step = (payout) => ({ ...payout, state: 'parked', tx: null, nextMs: 0, reason: HOLD_OVER })
