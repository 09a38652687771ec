import type pg from 'pg'
import type { SentMessage } from '../../registry/bridge/message.js'
import { JOB_KIND, JOB_STATE } from '../../registry/outbox.js'
import type { Network } from '../../registry/primitives/network.js'
import { prepareStatement } from '../journal/partitions.js'
import { codeListSql } from '../pg/codes.js'
import { execute, existsRowSql } from '../pg/rows.js'

/** A bridge message as its spoke sent it. `chain` is the spoke. */
export type StoredMessage = Pick<
  SentMessage,
  'guid' | 'txHash' | 'sentMs' | 'packet' | 'options'
> & { chain: number }

/**
 * Marks messages as settled that the hub has received in a confirmed block, whoever executed them. Likewise ends parked
 * jobs of the kinds `verify`, `execute` and `deliver`.
 */
export async function settleReceivedMessages(
  client: pg.ClientBase,
  network: Network,
  nowMs: number,
): Promise<void> {
  await execute(
    client,
    network,
    `UPDATE messages m SET settled = true FROM received r
     WHERE m.network = $1 AND m.confirmed AND NOT m.settled AND r.network = m.network AND r.guid = m.guid AND r.confirmed`,
  )
  await execute(
    client,
    network,
    `UPDATE jobs j SET state = ${JOB_STATE.confirmed}, reason = NULL, updated_ms = $2, version = version + 1
     FROM received r WHERE j.network = $1 AND j.state = ${JOB_STATE.parked} AND r.network = j.network AND r.guid = j.subject
       AND r.confirmed AND j.kind IN (${codeListSql(JOB_KIND, 'verify', 'execute', 'deliver')})`,
    [nowMs],
  )
}

const MESSAGE_COLUMNS = 'm.guid, m.chain, m.tx_hash, m.sent_ms, m.packet, m.options'
/**
 * SQL: confirmed messages `m`, sent up to a time (`$2`, ms), that no confirmed block of the hub has received. Receipts
 * in unconfirmed blocks do not count, because these blocks come from one node.
 */
const OPEN_MESSAGES_SQL = `messages m WHERE m.network = $1 AND m.confirmed AND NOT m.settled AND m.sent_ms <= $2
  AND NOT ${existsRowSql('received r WHERE r.network = m.network AND r.guid = m.guid AND r.confirmed')}`
const ORDER_AS_SENT_SQL = 'ORDER BY m.sent_ms, m.chain, m.block, m.log_index'

/** Maximum number of messages that one query returns, which bounds memory. Further messages are queued later. */
export const MAX_QUEUED_MESSAGES = 500

/** Messages without a job that no confirmed block of the hub has received, in the order in which they were sent. */
export const findMessagesToQueue = prepareStatement<StoredMessage, [sentBeforeMs: number]>(
  `SELECT ${MESSAGE_COLUMNS} FROM ${OPEN_MESSAGES_SQL} AND NOT ${existsRowSql('jobs j WHERE j.network = m.network AND j.subject = m.guid')}
     ${ORDER_AS_SENT_SQL} LIMIT ${MAX_QUEUED_MESSAGES}`,
)

/** Maximum number of stuck messages that an alarm counts and lists. */
export const MAX_STUCK_MESSAGES = 1_000

/**
 * Messages that no confirmed block of the hub has received, oldest first, at most `MAX_STUCK_MESSAGES`. A message with
 * a job that is not confirmed is left out: the job has alarms of its own.
 */
export const findStuckMessages = prepareStatement<
  Pick<StoredMessage, 'guid' | 'sentMs'>,
  [sentBeforeMs: number]
>(
  `SELECT m.guid, m.sent_ms FROM ${OPEN_MESSAGES_SQL}
       AND NOT ${existsRowSql(`jobs j WHERE j.network = m.network AND j.subject = m.guid AND j.state <> ${JOB_STATE.confirmed}`)}
     ${ORDER_AS_SENT_SQL} LIMIT ${MAX_STUCK_MESSAGES}`,
)
