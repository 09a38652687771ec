import type pg from 'pg'
import { JOB_KIND, JOB_STATE } from '../../registry/outbox.js'
import type { Network } from '../../registry/primitives/network.js'
import { codeList } from '../pg/codes.js'
import { execute, type Queryable, query } from '../pg/rows.js'

/** A message of the bridge, as its spoke sent it. */
export interface SentMessage {
  guid: Buffer
  /** The spoke that sent it. */
  chain: number
  txHash: Buffer
  sentMs: number
  packet: Buffer
  options: Buffer
}

/** A confirmed message that the hub has not received in a confirmed block. */
export interface OpenMessage extends SentMessage {
  /** True without a queued job. */
  isNew: boolean
  /** True once received in an unconfirmed block of the hub. */
  isReceived: boolean
}

/**
 * Marks messages as settled that the hub has received in confirmed blocks, whoever executed them, and ends parked jobs
 * of such messages and payments.
 * @returns ids of the parked jobs that ended
 */
export async function settleMessages(client: pg.ClientBase, network: Network, nowMs: number): Promise<string[]> {
  await execute(
    client,
    network,
    `UPDATE messages m SET settled = true FROM received r
     WHERE m.network = $1 AND m.confirmed AND NOT m.settled AND r.network = m.network AND r.guid = m.guid AND r.confirmed`,
  )
  const ended = await query<{ id: number }>(
    client,
    network,
    `UPDATE jobs j SET state = ${JOB_STATE.confirmed}, reason = NULL, updated_ms = $2, version = version + 1
     FROM received r WHERE j.network = $1 AND j.state = ${JOB_STATE.parked} AND r.network = j.network AND r.guid = j.subject
       AND r.confirmed AND j.kind IN (${codeList(JOB_KIND, 'verify', 'execute', 'deliver')})
     RETURNING j.id`,
    [nowMs],
  )
  return ended.map(({ id }) => String(id))
}

/** Open messages that were sent up to a time (milliseconds), in the order in which they were sent. */
export function openMessages(db: Queryable, network: Network, sentBeforeMs: number): Promise<OpenMessage[]> {
  return query(
    db,
    network,
    `SELECT m.guid, m.chain, m.tx_hash, m.sent_ms, m.packet, m.options,
       NOT EXISTS (SELECT 1 FROM jobs j WHERE j.network = m.network AND j.subject = m.guid) AS is_new,
       EXISTS (SELECT 1 FROM received r WHERE r.network = m.network AND r.guid = m.guid) AS is_received
     FROM messages m
     WHERE m.network = $1 AND m.confirmed AND NOT m.settled AND m.sent_ms <= $2
     ORDER BY m.sent_ms, m.chain, m.block, m.log_index`,
    [sentBeforeMs],
  )
}
