import type { ChainTx } from '../../chains/chain.js'
import type { TrackedTx } from '../../db/journal/transactions.js'
import {
  INVALID_REASONS,
  type InvalidReason,
  type Seen,
  type StatusAnswer,
  type StatusInput,
  status,
  type Tracked,
} from '../../registry/status.js'
import type { Context } from '../http/context.js'

/** The status of a transaction as it is answered after `tx`. */
export interface TxStatus extends StatusAnswer {
  /** The transaction that took this one's nonce and whose status this is. */
  replacedBy?: string
  /** Block of the transaction's own chain, on Solana the slot. */
  block?: number
  /** Block of `hubTx`. */
  hubBlock?: number
  updatedAt?: string
}

/** A transaction whose status is asked for. */
export interface TxQuery {
  context: Context
  /** Raw bytes of its EVM hash or Solana signature. */
  tx: Buffer
}

/** Records of a transaction; what is left out is unknown. */
type Known = Partial<Omit<StatusInput, 'tracked' | 'seen'>> & { tracked?: TrackedTx | null; seen?: ChainTx | Seen }

/** Calls the registry's status function with what is known. */
export function decide(
  context: Context,
  { tracked = null, seen = { state: 'unknown' }, ...rest }: Known,
): StatusAnswer {
  return status({
    nowMs: context.now(),
    journal: [],
    tail: [],
    tailConfirmations: null,
    ...rest,
    seen: asSeen(seen),
    tracked: tracked && asTracked(tracked),
  })
}

function asSeen(tx: ChainTx | Seen): Seen {
  if (tx.state !== 'mined') return { state: tx.state }
  const { succeeded, isRegistration, confirmations, isConfirmed } = tx
  return { state: 'mined', succeeded, isRegistration, confirmations, isConfirmed }
}

function asTracked({ lastSeenMs, verdict }: TrackedTx): Tracked {
  if (verdict !== null && !isReason(verdict))
    throw new Error(`tracked_txs holds the verdict "${verdict}", unknown to this version`)
  return { lastSeenMs, verdict }
}

const isReason = (text: string): text is InvalidReason => INVALID_REASONS.some((reason) => reason === text)
