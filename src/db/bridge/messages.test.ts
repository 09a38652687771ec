import type pg from 'pg'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import type { ReceivedMessage, SentMessage } from '../../registry/bridge/message.js'
import { inTransaction } from '../pg/pool.js'
import { writeMessageReceipts, writeMessages } from './messages.js'

const SPOKE = 2
const database = useDatabase()
let pool: pg.Pool

beforeAll(() => {
  pool = database.pool
})
beforeEach(() => pool.query('TRUNCATE messages, received'))

const word = (n: number): Buffer => Buffer.alloc(32, n)
const sent = (guid: number, tx: number, block = 10): SentMessage => ({
  guid: word(guid),
  from: word(9),
  txHash: word(tx),
  block,
  blockHash: word(block),
  logIndex: 0,
  sentMs: 1,
  packet: Buffer.of(tx),
  options: Buffer.alloc(0),
})
const receipt = (guid: number): ReceivedMessage => ({
  guid: word(guid),
  txHash: word(200),
  block: 50,
  logIndex: 1,
  bids: 1,
})

/** Writes messages of the spoke's unconfirmed blocks from 10 on. */
const tail = (...messages: SentMessage[]): Promise<void> =>
  inTransaction(pool, (client) =>
    writeMessages(
      client,
      { network: 'testnet', chain: SPOKE },
      { isConfirmed: false, block: 10 },
      messages,
    ),
  )
const txByGuid = async (): Promise<Record<number, number>> => {
  const { rows } = await pool.query<{ guid: Buffer; tx_hash: Buffer }>(
    'SELECT guid, tx_hash FROM messages',
  )
  return Object.fromEntries(rows.map((row) => [row.guid[0]!, row.tx_hash[0]!]))
}

test('a reorg of the spoke removes its messages, and another transaction may use the guid', async () => {
  await tail(sent(1, 11), sent(2, 12))
  await tail(sent(2, 13))
  expect(await txByGuid()).toEqual({ 2: 13 })
})

test('a message that the hub received in an unconfirmed block may still be removed', async () => {
  await tail(sent(1, 11))
  await inTransaction(pool, (client) =>
    writeMessageReceipts(client, 'testnet', { isConfirmed: false, block: 50 }, [receipt(1)]),
  )
  await tail()
  expect(await txByGuid()).toEqual({})
})

test('a message that the hub received in a confirmed block stays, whatever the spoke shows afterwards', async () => {
  await tail(sent(1, 11))
  await inTransaction(pool, (client) =>
    writeMessageReceipts(client, 'testnet', { isConfirmed: true, block: 51 }, [receipt(1)]),
  )
  await tail()
  expect(await txByGuid()).toEqual({ 1: 11 })
  await tail(sent(1, 12))
  expect(await txByGuid()).toEqual({ 1: 11 })
  // mined again and confirmed: the same message
  await tail(sent(1, 11, 14))
  await inTransaction(pool, (client) =>
    writeMessages(client, { network: 'testnet', chain: SPOKE }, { isConfirmed: true, block: 15 }, [
      sent(1, 11, 14),
    ]),
  )
  const { rows } = await pool.query('SELECT block, confirmed FROM messages')
  expect(rows).toEqual([{ block: 14, confirmed: true }])
})
