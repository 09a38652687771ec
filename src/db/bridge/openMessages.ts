import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/** A confirmed message that the hub has not taken for good. */
export interface OpenMessage {
  guid: Buffer
  /** The spoke it left. */
  chain: number
  txHash: Buffer
  sentMs: number
  packet: Buffer
  options: Buffer
  /** Nothing has been queued for it. */
  isNew: boolean
  /** The hub has taken it, unconfirmed. */
  isReceived: boolean
}

/**
 * Lays aside the messages that the hub has taken, confirmed, whoever executed them, and ends what was parked for them or for
 * payments.
 * @returns the ids of parked deliveries that ended so
 */
export async function settleMessages(client: pg.ClientBase, network: Network, nowMs: number): Promise<string[]> {
  await client.query(
    `UPDATE messages m SET settled = true FROM received r
     WHERE m.network = $1 AND m.confirmed AND NOT m.settled AND r.network = m.network AND r.guid = m.guid AND r.confirmed`,
    [NETWORK_CODE[network]],
  )
  const { rows } = await client.query<{ id: number }>(
    `UPDATE deliveries d SET state = 4, reason = NULL, updated_ms = $2, version = version + 1
     FROM received r WHERE d.network = $1 AND d.state = 5 AND r.network = d.network AND r.guid = d.guid AND r.confirmed
     RETURNING d.id`,
    [NETWORK_CODE[network], nowMs],
  )
  return rows.map(({ id }) => String(id))
}

/** The open messages that left before a time (milliseconds), in the order in which they were sent. */
export async function openMessages(
  client: pg.ClientBase | pg.Pool,
  network: Network,
  sentBeforeMs: number,
): Promise<OpenMessage[]> {
  const { rows } = await client.query<{
    guid: Buffer
    chain: number
    tx_hash: Buffer
    sent_ms: number
    packet: Buffer
    options: Buffer
    is_new: boolean
    is_received: boolean
  }>(
    `SELECT m.guid, m.chain, m.tx_hash, m.sent_ms, m.packet, m.options,
       NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.network = m.network AND d.guid = m.guid) AS is_new,
       EXISTS (SELECT 1 FROM received r WHERE r.network = m.network AND r.guid = m.guid) AS is_received
     FROM messages m
     WHERE m.network = $1 AND m.confirmed AND NOT m.settled AND m.sent_ms <= $2
     ORDER BY m.sent_ms, m.chain, m.block, m.log_index`,
    [NETWORK_CODE[network], sentBeforeMs],
  )
  return rows.map((row) => ({
    guid: row.guid,
    chain: row.chain,
    txHash: row.tx_hash,
    sentMs: row.sent_ms,
    packet: row.packet,
    options: row.options,
    isNew: row.is_new,
    isReceived: row.is_received,
  }))
}
