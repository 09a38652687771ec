import type pg from 'pg'
import type { ReceivedMessage, SentMessage } from '../../registry/bridge/message.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/** Of a message `m`: that the hub has taken it, confirmed. */
const IS_RECEIVED = 'EXISTS (SELECT 1 FROM received r WHERE r.network = m.network AND r.guid = m.guid AND r.confirmed)'

/**
 * Makes the unconfirmed messages of a spoke what its tail says, from a block on. A reorged spoke may use a guid again, except
 * for one whose message the hub has taken, confirmed: its sender's status rests on it and never changes, whatever the spoke says.
 */
export async function writeTailMessages(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  tail: { dropFrom: number; messages: readonly SentMessage[] },
): Promise<void> {
  await client.query({
    name: 'drop_messages',
    text: `DELETE FROM messages m WHERE network = $1 AND chain = $2 AND block >= $3 AND NOT confirmed AND NOT ${IS_RECEIVED}`,
    values: [NETWORK_CODE[network], chain, tail.dropFrom],
  })
  await upsertMessages(client, network, chain, tail.messages, false)
}

/** Writes messages of confirmed blocks. */
export const confirmMessages = (
  client: pg.ClientBase,
  network: Network,
  chain: number,
  messages: readonly SentMessage[],
): Promise<void> => upsertMessages(client, network, chain, messages, true)

async function upsertMessages(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  messages: readonly SentMessage[],
  isConfirmed: boolean,
): Promise<void> {
  if (messages.length === 0) return
  // a confirmed message is never changed again; an unconfirmed one gives way, to a message of another transaction only until
  // the hub has taken it
  const text = `INSERT INTO messages AS m (network, chain, confirmed, guid, sender, tx_hash, block, block_hash, log_index, sent_ms, packet, options)
    SELECT $1, $2, $3, * FROM unnest($4::bytea[], $5::bytea[], $6::bytea[], $7::int8[], $8::bytea[], $9::int4[], $10::int8[], $11::bytea[], $12::bytea[])
    ON CONFLICT (network, guid) DO UPDATE SET
      chain = excluded.chain, confirmed = excluded.confirmed, sender = excluded.sender, tx_hash = excluded.tx_hash, block = excluded.block,
      block_hash = excluded.block_hash, log_index = excluded.log_index, sent_ms = excluded.sent_ms, packet = excluded.packet, options = excluded.options
    WHERE NOT m.confirmed AND (m.tx_hash = excluded.tx_hash OR NOT ${IS_RECEIVED})`
  await client.query(text, [
    NETWORK_CODE[network],
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
  db: pg.Pool | pg.ClientBase,
  network: Network,
  chain: number,
): Promise<Pick<SentMessage, 'packet' | 'block'> | null> {
  const { rows } = await db.query<{ packet: Buffer; block: number }>(
    `SELECT packet, block FROM messages WHERE network = $1 AND chain = $2 AND confirmed
     ORDER BY block DESC, log_index DESC LIMIT 1`,
    [NETWORK_CODE[network], chain],
  )
  return rows[0] ?? null
}

/** Makes the unconfirmed receipts of a hub what its tail says, from a block on. */
export async function writeTailReceipts(
  client: pg.ClientBase,
  network: Network,
  tail: { dropFrom: number; receipts: readonly ReceivedMessage[] },
): Promise<void> {
  const text = 'DELETE FROM received WHERE network = $1 AND block >= $2 AND NOT confirmed'
  await client.query({ name: 'drop_received', text, values: [NETWORK_CODE[network], tail.dropFrom] })
  await upsertReceipts(client, network, tail.receipts, false)
}

/** Writes what the hub has taken in confirmed blocks. */
export const confirmReceipts = (
  client: pg.ClientBase,
  network: Network,
  receipts: readonly ReceivedMessage[],
): Promise<void> => upsertReceipts(client, network, receipts, true)

async function upsertReceipts(
  client: pg.ClientBase,
  network: Network,
  receipts: readonly ReceivedMessage[],
  isConfirmed: boolean,
): Promise<void> {
  if (receipts.length === 0) return
  const text = `INSERT INTO received (network, confirmed, guid, tx_hash, block, log_index, bids, refused)
    SELECT $1, $2, * FROM unnest($3::bytea[], $4::bytea[], $5::int8[], $6::int4[], $7::int4[], $8::bool[])
    ON CONFLICT (network, guid) DO UPDATE SET
      confirmed = excluded.confirmed, tx_hash = excluded.tx_hash, block = excluded.block, log_index = excluded.log_index,
      bids = excluded.bids, refused = excluded.refused
    WHERE NOT received.confirmed`
  await client.query(text, [
    NETWORK_CODE[network],
    isConfirmed,
    receipts.map((r) => r.guid),
    receipts.map((r) => r.txHash),
    receipts.map((r) => r.block),
    receipts.map((r) => r.logIndex),
    receipts.map((r) => r.bids),
    receipts.map((r) => r.isRefused),
  ])
}
