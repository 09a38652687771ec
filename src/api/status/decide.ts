import { decideTxStatus, type StatusAnswer, type StatusInput } from '../../registry/status.js'
import type { Context } from '../http/context.js'

/** Facts of a transaction that its status does not depend on. */
export interface Origin {
  /** Network label of its chain. */
  network?: string | undefined
  /** Its bidder, once it has won a name: a wallet that holds none may be private. */
  sender?: string
  /** Sum of its bids on the hub in wei, or of its payments in the smallest unit of the token; absent for a message. */
  paid?: { token: string; amount: string }
}

/** The status of a transaction as it is answered after `tx`. */
export interface TxStatus extends StatusAnswer, Origin {
  /** The transaction that took this one's nonce and whose status this is. */
  replacedBy?: string
  /** Block or slot of the transaction's own chain. */
  block?: number
  /** Block of `hubTx`. */
  hubBlock?: number
  updatedAt?: string
}

export interface TxQuery {
  context: Context
  /** Raw bytes of its hash or signature. */
  tx: Buffer
}

/** Calls the registry's status function with the known facts. */
export const decideStatus = (context: Context, known: Partial<StatusInput>): StatusAnswer =>
  decideTxStatus({
    nowMs: context.now(),
    journal: [],
    tail: [],
    tailConfirmations: null,
    tracked: null,
    seen: { state: 'unknown' },
    ...known,
  })
