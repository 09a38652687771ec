import { type StatusAnswer, type StatusInput, status } from '../../registry/status.js'
import type { Context } from '../http/context.js'

/** The status of a transaction as it is answered after `tx`. */
export interface TxStatus extends StatusAnswer {
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

/** Calls the registry's status function with what is known; what is left out is unknown. */
export const decide = (context: Context, known: Partial<StatusInput>): StatusAnswer =>
  status({
    nowMs: context.now(),
    journal: [],
    tail: [],
    tailConfirmations: null,
    tracked: null,
    seen: { state: 'unknown' },
    ...known,
  })
