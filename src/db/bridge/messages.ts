import type pg from 'pg'
import type { ReceivedMessage, SentMessage } from '../../registry/bridge/message.js'
import type { Network } from '../../registry/primitives/network.js'
import { execute, type Queryable, query } from '../pg/rows.js'

/** True for a message `m` that the hub has received in a confirmed block. */
const IS_RECEIVED = 'EXISTS (SELECT 1 FROM received r WHERE r.network = m.network AND r.guid = m.guid AND r.confirmed)'

const DROP_MESSAGES = {
  name: 'drop_messages',
  text: `DELETE FROM messages m WHERE network = $1 AND chain = $2 AND block >= $3 AND NOT confirmed AND NOT ${IS_RECEIVED}`,
}

/**
 * Replaces the unconfirmed messages of a spoke from a block on. A reorged spoke may use a guid again, except that of a
 * message that the hub has received in a confirmed block: the status of its sender depends on it and never changes.
 */
export async function writeTailMessages(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  tail: { dropFrom: number; messages: readonly SentMessage[] },
): Promise<void> {
  await execute(client, network, DROP_MESSAGES, [chain, tail.dropFrom])
  await upsertMessages(client, network, { chain, isConfirmed: false }, tail.messages)
}

/** Writes messages of confirmed blocks. */
export function confirmMessages(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  messages: readonly SentMessage[],
): Promise<void> {
  return upsertMessages(client, network, { chain, isConfirmed: true }, messages)
}

async function upsertMessages(
  client: pg.ClientBase,
  network: Network,
  { chain, isConfirmed }: { chain: number; isConfirmed: boolean },
  messages: readonly SentMessage[],
): Promise<void> {
  if (messages.length === 0) return
  // A confirmed message never changes. An unconfirmed one is replaced, by a message of another transaction only until
  // the hub has received it in a confirmed block.
  const sql = `INSERT INTO messages AS m (network, chain, confirmed, guid, sender, tx_hash, block, block_hash, log_index, sent_ms, packet, options)
    SELECT $1, $2, $3, * FROM unnest($4::bytea[], $5::bytea[], $6::bytea[], $7::int8[], $8::bytea[], $9::int4[], $10::int8[], $11::bytea[], $12::bytea[])
    ON CONFLICT (network, guid) DO UPDATE SET
      chain = excluded.chain, confirmed = excluded.confirmed, sender = excluded.sender, tx_hash = excluded.tx_hash, block = excluded.block,
      block_hash = excluded.block_hash, log_index = excluded.log_index, sent_ms = excluded.sent_ms, packet = excluded.packet, options = excluded.options
    WHERE NOT m.confirmed AND (m.tx_hash = excluded.tx_hash OR NOT ${IS_RECEIVED})`
  await execute(client, network, sql, [
    chain,
    isConfirmed,
    messages.map((m) => m.guid),
    messages.map((m) => m.from),
    messages.map((m) => m.txHash),
    messages.map((m) => m.block),
    messages.map((m) => m.blockHash),
    messages.map((m) => m.logIndex),
    messages.map((m) => m.sentMs),
    messages.map((m) => m.packet),
    messages.map((m) => m.options),
  ])
}

/** The last message of a spoke's confirmed blocks, null before the first. */
export async function newestConfirmedMessage(
  db: Queryable,
  network: Network,
  chain: number,
): Promise<Pick<SentMessage, 'packet' | 'block'> | null> {
  const [newest] = await query<Pick<SentMessage, 'packet' | 'block'>>(
    db,
    network,
    `SELECT packet, block FROM messages WHERE network = $1 AND chain = $2 AND confirmed
     ORDER BY block DESC, log_index DESC LIMIT 1`,
    [chain],
  )
  return newest ?? null
}

const DROP_RECEIPTS = {
  name: 'drop_received',
  text: 'DELETE FROM received WHERE network = $1 AND block >= $2 AND NOT confirmed',
}

/** Replaces the unconfirmed receipts of a hub from a block on. */
export async function writeTailReceipts(
  client: pg.ClientBase,
  network: Network,
  tail: { dropFrom: number; receipts: readonly ReceivedMessage[] },
): Promise<void> {
  await execute(client, network, DROP_RECEIPTS, [tail.dropFrom])
  await upsertReceipts(client, network, tail.receipts, false)
}

/** Writes receipts of the hub's confirmed blocks. */
export function confirmReceipts(
  client: pg.ClientBase,
  network: Network,
  receipts: readonly ReceivedMessage[],
): Promise<void> {
  return upsertReceipts(client, network, receipts, true)
}

async function upsertReceipts(
  client: pg.ClientBase,
  network: Network,
  receipts: readonly ReceivedMessage[],
  isConfirmed: boolean,
): Promise<void> {
  if (receipts.length === 0) return
  const sql = `INSERT INTO received (network, confirmed, guid, tx_hash, block, log_index, bids, refused)
    SELECT $1, $2, * FROM unnest($3::bytea[], $4::bytea[], $5::int8[], $6::int4[], $7::int4[], $8::bool[])
    ON CONFLICT (network, guid) DO UPDATE SET
      confirmed = excluded.confirmed, tx_hash = excluded.tx_hash, block = excluded.block, log_index = excluded.log_index,
      bids = excluded.bids, refused = excluded.refused
    WHERE NOT received.confirmed`
  await execute(client, network, sql, [
    isConfirmed,
    receipts.map((r) => r.guid),
    receipts.map((r) => r.txHash),
    receipts.map((r) => r.block),
    receipts.map((r) => r.logIndex),
    receipts.map((r) => r.bids),
    receipts.map((r) => r.isRefused),
  ])
}
