import type { Network } from '../../registry/primitives/network.js'
import { prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

/** A payment that a transaction on Solana made, and what became of it. */
export interface TxPayment {
  messageId: Buffer
  sequence: number
  /** Order of its event in the transaction. */
  position: number
  /** The name's word. */
  name: Buffer
  paidMs: number
  isConfirmed: boolean
  /** PAYMENT_VERDICT; null until it is judged. */
  verdict: number | null
  /** Null until the hub has taken it. */
  received: { txHash: Buffer; logIndex: number; bids: number; isConfirmed: boolean } | null
  /** Why it could not be delivered so far, null while nothing went wrong or nobody has tried. */
  failure: string | null
}

const bySignature = prepare<{
  messageId: Buffer
  sequence: number
  position: number
  name: Buffer
  paidMs: number
  confirmed: boolean
  verdict: number | null
  hubTx: Buffer | null
  hubLogIndex: number
  hubBids: number
  hubConfirmed: boolean
  failure: string | null
}>(
  'tx_payments',
  (l) => `SELECT p.message_id, p.sequence, p.position, p.name, p.paid_ms, p.confirmed, p.verdict,
      r.tx_hash AS hub_tx, r.log_index AS hub_log_index, r.bids AS hub_bids, r.confirmed AS hub_confirmed,
      (SELECT d.reason FROM deliveries d WHERE d.network = ${l.network} AND d.guid = p.message_id AND d.state <> 4 AND d.reason IS NOT NULL
       ORDER BY d.kind LIMIT 1) AS failure
    FROM payments p
    LEFT JOIN received r ON r.network = p.network AND r.guid = p.message_id
    WHERE p.network = ${l.network} AND p.signature = $1
    ORDER BY p.position, p.sequence`,
)

/** The payments of a transaction by its signature (64 bytes), in order; empty when it made none that is known. */
export async function findPayments(db: Queryable, network: Network, signature: Buffer): Promise<TxPayment[]> {
  const rows = await bySignature(db, network, [signature])
  return rows.map((row) => ({
    messageId: row.messageId,
    sequence: row.sequence,
    position: row.position,
    name: row.name,
    paidMs: row.paidMs,
    isConfirmed: row.confirmed,
    verdict: row.verdict,
    received: row.hubTx && {
      txHash: row.hubTx,
      logIndex: row.hubLogIndex,
      bids: row.hubBids,
      isConfirmed: row.hubConfirmed,
    },
    failure: row.failure,
  }))
}
