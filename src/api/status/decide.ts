import { decideTxStatus, type StatusAnswer, type TxStatusInput } from '../../registry/status.js'
import type { Context } from '../http/context.js'
import type { Trouble } from './trouble.js'

/** Data about a transaction in addition to its status. */
export interface TxDetails {
  /** Network label of the transaction's chain. */
  network?: string | undefined
  /** The bidder, once it has won a name. Until then the wallet may be private. */
  sender?: string
  /** Sum of the bids on the hub in wei, or of the payments in the smallest unit of the token; absent for a message. */
  paid?: { token: string; amount: string }
}

/** The status of a transaction, in the order of the response's fields after `tx`. */
export interface TxStatus extends StatusAnswer, TxDetails {
  /** The transaction that took this one's nonce and whose status this is. */
  replacedBy?: string
  /** Block or slot of the transaction's own chain. */
  block?: number
  /** Hub block of the transaction `hubTx`. */
  hubBlock?: number
  updatedAt?: string
  trouble?: Trouble
}

export interface TxStatusQuery {
  context: Context
  /** Raw bytes of its hash or signature. */
  tx: Buffer
}

/** Decides a transaction's status by the known inputs. Inputs that are left out count as empty or unknown. */
export const decideTxStatusWithDefaults = (
  context: Context,
  known: Partial<TxStatusInput>,
): StatusAnswer =>
  decideTxStatus({
    nowMs: context.now(),
    journal: [],
    tail: [],
    tailConfirmations: null,
    tracked: null,
    seen: { state: 'unknown' },
    ...known,
  })
