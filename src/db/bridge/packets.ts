import type { Network } from '../../registry/primitives/network.js'
import type { Confirmations } from '../../registry/status.js'
import { prepare, type Queryable } from '../pg/prepared.js'

/** A message that a transaction sent from a spoke, and what the hub made of it. */
export interface TxMessage {
  guid: Buffer
  /** The spoke it left. */
  chain: number
  logIndex: number
  packet: Buffer
  sentMs: number
  isConfirmed: boolean
  confirmations: Confirmations
  /** Null until the hub has taken it. */
  received: { txHash: Buffer; logIndex: number; bids: number; isConfirmed: boolean } | null
  /** Why it could not be delivered so far, null while nothing went wrong or nobody has tried. */
  failure: string | null
}

const byTx = prepare<{
  guid: Buffer
  chain: number
  log_index: number
  block: number
  packet: Buffer
  sent_ms: number
  confirmed: boolean
  next_block: number
  latest: number | null
  hub_tx: Buffer | null
  hub_log_index: number
  hub_bids: number
  hub_confirmed: boolean
  failure: string | null
}>(
  'tx_messages',
  (l) => `SELECT m.guid, m.chain, m.log_index, m.block, m.packet, m.sent_ms, m.confirmed, c.next_block,
      (SELECT max(t.block) FROM tail_blocks t WHERE t.network = ${l.network} AND t.chain = m.chain) AS latest,
      r.tx_hash AS hub_tx, r.log_index AS hub_log_index, r.bids AS hub_bids, r.confirmed AS hub_confirmed,
      (SELECT d.reason FROM deliveries d WHERE d.network = ${l.network} AND d.guid = m.guid AND d.state <> 4 AND d.reason IS NOT NULL
       ORDER BY d.kind LIMIT 1) AS failure
    FROM messages m
    JOIN chains c ON c.network = m.network AND c.chain = m.chain
    LEFT JOIN received r ON r.network = m.network AND r.guid = m.guid
    WHERE m.network = ${l.network} AND m.tx_hash = $1
    ORDER BY m.log_index`,
)

/** The messages of a spoke's transaction, in log order; empty when it sent none that is known. */
export async function findMessages(db: Queryable, network: Network, hash: Buffer): Promise<TxMessage[]> {
  const rows = await byTx(db, network, [hash])
  return rows.map((row) => {
    const latest = Math.max(row.latest ?? row.block, row.block)
    return {
      guid: row.guid,
      chain: row.chain,
      logIndex: row.log_index,
      packet: row.packet,
      sentMs: row.sent_ms,
      isConfirmed: row.confirmed,
      confirmations: { have: latest - row.block, need: Math.max(0, latest - (row.next_block - 1)) },
      received: row.hub_tx && {
        txHash: row.hub_tx,
        logIndex: row.hub_log_index,
        bids: row.hub_bids,
        isConfirmed: row.hub_confirmed,
      },
      failure: row.failure,
    }
  })
}
