import type { ReceivedMessage, SentMessage } from '../../registry/bridge/message.js'
import type { Network } from '../../registry/primitives/network.js'
import { unnestOf } from '../pg/arrays.js'
import { type ChainKey, execute, type Queryable } from '../pg/rows.js'

/** True for a message `m` that the hub has received in a confirmed block. */
const IS_RECEIVED = 'EXISTS (SELECT 1 FROM received r WHERE r.network = m.network AND r.guid = m.guid AND r.confirmed)'

/** Statement that deletes unconfirmed rows. */
const removal = (name: string, rows: string) => ({ name, text: `DELETE FROM ${rows} AND NOT confirmed` })
const OF_SPOKE = `messages m WHERE network = $1 AND chain = $2 AND NOT ${IS_RECEIVED}`
const DROP_MESSAGES = removal('drop_messages', `${OF_SPOKE} AND block >= $3`)
const FORGET_MESSAGES = removal('forget_messages', `${OF_SPOKE} AND block < $3`)

/**
 * Replaces the unconfirmed messages of a spoke from a block on. A reorged spoke may use a guid again, except that of a
 * message that the hub has received in a confirmed block: the status of its sender depends on it and never changes.
 */
export async function writeTailMessages(
  db: Queryable,
  on: ChainKey,
  tail: { dropFrom: number; messages: readonly SentMessage[] },
): Promise<void> {
  const dropped = execute(db, on.network, DROP_MESSAGES, [on.chain, tail.dropFrom])
  await Promise.all([dropped, upsertMessages(db, on, tail.messages, false)])
}

/** Drops a spoke's messages that are unconfirmed below its checkpoint: no block of the chain holds them. */
export async function forgetMessages(db: Queryable, on: ChainKey, below: number): Promise<void> {
  await execute(db, on.network, FORGET_MESSAGES, [on.chain, below])
}

/** Writes messages of confirmed blocks. */
export const confirmMessages = (db: Queryable, on: ChainKey, messages: readonly SentMessage[]): Promise<void> =>
  upsertMessages(db, on, messages, true)

const MESSAGE = unnestOf<SentMessage>(
  [
    ['guid', 'bytea', ({ guid }) => guid],
    ['sender', 'bytea', ({ from }) => from],
    ['tx_hash', 'bytea', ({ txHash }) => txHash],
    ['block', 'int8', ({ block }) => block],
    ['block_hash', 'bytea', ({ blockHash }) => blockHash],
    ['log_index', 'int4', ({ logIndex }) => logIndex],
    ['sent_ms', 'int8', ({ sentMs }) => sentMs],
    ['packet', 'bytea', ({ packet }) => packet],
    ['options', 'bytea', ({ options }) => options],
  ],
  4,
)
// A confirmed message never changes. An unconfirmed one is replaced, by a message of another transaction only until
// the hub has received it in a confirmed block.
const UPSERT_MESSAGES = `INSERT INTO messages AS m (network, chain, confirmed, ${MESSAGE.names})
  SELECT $1, $2, $3, * FROM ${MESSAGE.rows}
  ON CONFLICT (network, guid) DO UPDATE SET chain = excluded.chain, confirmed = excluded.confirmed, ${MESSAGE.set('excluded')}
  WHERE NOT m.confirmed AND (m.tx_hash = excluded.tx_hash OR NOT ${IS_RECEIVED})`

async function upsertMessages(
  db: Queryable,
  { network, chain }: ChainKey,
  messages: readonly SentMessage[],
  isConfirmed: boolean,
): Promise<void> {
  if (messages.length === 0) return
  await execute(db, network, UPSERT_MESSAGES, [chain, isConfirmed, ...MESSAGE.values(messages)])
}

const DROP_RECEIPTS = removal('drop_received', 'received WHERE network = $1 AND block >= $2')
const FORGET_RECEIPTS = removal('forget_received', 'received WHERE network = $1 AND block < $2')

/** Replaces the unconfirmed receipts of a hub from a block on. */
export async function writeTailReceipts(
  db: Queryable,
  network: Network,
  tail: { dropFrom: number; receipts: readonly ReceivedMessage[] },
): Promise<void> {
  const dropped = execute(db, network, DROP_RECEIPTS, [tail.dropFrom])
  await Promise.all([dropped, upsertReceipts(db, network, tail.receipts, false)])
}

/** Drops receipts that are unconfirmed below the hub's checkpoint: no block of the chain holds them. */
export async function forgetReceipts(db: Queryable, network: Network, below: number): Promise<void> {
  await execute(db, network, FORGET_RECEIPTS, [below])
}

/** Writes receipts of the hub's confirmed blocks. */
export const confirmReceipts = (db: Queryable, network: Network, receipts: readonly ReceivedMessage[]): Promise<void> =>
  upsertReceipts(db, network, receipts, true)

const RECEIPT = unnestOf<ReceivedMessage>(
  [
    ['guid', 'bytea', ({ guid }) => guid],
    ['tx_hash', 'bytea', ({ txHash }) => txHash],
    ['block', 'int8', ({ block }) => block],
    ['log_index', 'int4', ({ logIndex }) => logIndex],
    ['bids', 'int4', ({ bids }) => bids],
  ],
  3,
)
const UPSERT_RECEIPTS = `INSERT INTO received (network, confirmed, ${RECEIPT.names}) SELECT $1, $2, * FROM ${RECEIPT.rows}
  ON CONFLICT (network, guid) DO UPDATE SET confirmed = excluded.confirmed, ${RECEIPT.set('excluded')}
  WHERE NOT received.confirmed`

async function upsertReceipts(
  db: Queryable,
  network: Network,
  receipts: readonly ReceivedMessage[],
  isConfirmed: boolean,
): Promise<void> {
  if (receipts.length > 0) await execute(db, network, UPSERT_RECEIPTS, [isConfirmed, ...RECEIPT.values(receipts)])
}
