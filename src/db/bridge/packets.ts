import { JOB_STATE } from '../../registry/outbox.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Confirmations } from '../../registry/status.js'
import { prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

/** A message that a transaction sent from a spoke, and how far the hub is with it. */
export interface TxMessage {
  guid: Buffer
  /** The spoke that sent it. */
  chain: number
  /** Block of that chain. */
  block: number
  logIndex: number
  packet: Buffer
  sentMs: number
  isConfirmed: boolean
  confirmations: Confirmations
  /** Null until the hub has received it. */
  received: HubReceipt | null
  /** Reason of the last failed delivery, null without one. */
  failure: string | null
}

/** Log of the hub that it has received a message, or a payment. */
export interface HubReceipt {
  txHash: Buffer
  block: number
  logIndex: number
  bids: number
  isConfirmed: boolean
}

/** Columns of a receipt `r` beside others. */
export const RECEIPT_COLUMNS = `r.tx_hash AS hub_tx, r.block AS hub_block, r.log_index AS hub_log_index, r.bids AS hub_bids,
  r.confirmed AS hub_confirmed`

/** A row of those columns: all are null where there is no receipt. */
export interface ReceiptRow {
  hubTx: Buffer | null
  hubBlock: number
  hubLogIndex: number
  hubBids: number
  hubConfirmed: boolean
}

/** A row with its receipt in place of those columns. */
export const withReceipt = <Row extends ReceiptRow>(row: Row) => {
  const { hubTx, hubBlock: block, hubLogIndex: logIndex, hubBids: bids, hubConfirmed: isConfirmed, ...rest } = row
  return { ...rest, received: hubTx && { txHash: hubTx, block, logIndex, bids, isConfirmed } }
}

/** Depth of a block below the newest that is known of its chain, and how much more makes it confirmed. */
export function confirmationsOf(block: number, { latest, nextBlock }: { latest: number | null; nextBlock: number }) {
  const head = Math.max(latest ?? block, block)
  // blocks below the checkpoint are confirmed
  return { have: head - block, need: Math.max(0, head - (nextBlock - 1)) }
}

interface Row extends Omit<TxMessage, 'confirmations' | 'received'>, ReceiptRow {
  nextBlock: number
  latest: number | null
}

const byTx = prepare<Row>(
  'tx_messages',
  (l) => `SELECT m.guid, m.chain, m.log_index, m.block, m.packet, m.sent_ms, m.confirmed AS is_confirmed, c.next_block,
      (SELECT max(t.block) FROM tail_blocks t WHERE t.network = ${l.network} AND t.chain = m.chain) AS latest,
      ${RECEIPT_COLUMNS},
      (SELECT j.reason FROM jobs j WHERE j.network = ${l.network} AND j.subject = m.guid
       AND j.state <> ${JOB_STATE.confirmed} AND j.reason IS NOT NULL ORDER BY j.kind LIMIT 1) AS failure
    FROM messages m
    JOIN chains c ON c.network = m.network AND c.chain = m.chain
    LEFT JOIN received r ON r.network = m.network AND r.guid = m.guid
    WHERE m.network = ${l.network} AND m.tx_hash = $1
    ORDER BY m.log_index`,
)

/** The messages of a spoke's transaction, in log order; empty when it sent none that is known. */
export async function findMessages(db: Queryable, network: Network, hash: Buffer): Promise<TxMessage[]> {
  const rows = await byTx(db, network, [hash])
  return rows.map(({ nextBlock, latest, ...row }) => ({
    ...withReceipt(row),
    confirmations: confirmationsOf(row.block, { latest, nextBlock }),
  }))
}
