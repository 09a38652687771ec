import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import { type Hex, pad } from 'viem'
import { expect, it } from 'vitest'
import { encodePlaceBidsCalldata } from '../../src/chains/evm/bridge/calls.js'
import { encodeHubMessage } from '../../src/chains/evm/bridge/hubMessage.js'
import { encodePacket, packetGuid } from '../../src/chains/evm/bridge/packet.js'
import { insertConfirmedCredits } from '../../src/db/bridge/credits.js'
import { writeMessageReceipts, writeMessages } from '../../src/db/bridge/messages.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { findJournalledTxs } from '../../src/db/transactions/bids.js'
import { parseAddress } from '../../src/registry/primitives/address.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { BATCH_ENTRIES, countRows } from './longLists.js'
import {
  bid,
  freshName,
  MINIMUM_WEI,
  randomAddress,
  randomHash,
  START_MS,
  tailBlock,
  useApi,
} from './support.js'

/** Transactions whose senders made their lists of names long. */

const world = useApi()

const MANY = 6_000
const SHOWN = 100
const HUB = { network: 'mainnet', chain: 1 } as const

const statusOf = async (tx: string) => {
  const { status, body } = await world.get(`/v1/names/register/tx/${tx}`)
  expect(status).toBe(200)
  return body
}

async function appendAll(entries: ReturnType<typeof bid>[]): Promise<void> {
  for (let i = 0; i < entries.length; i += BATCH_ENTRIES)
    await world.append('mainnet', entries.slice(i, i + BATCH_ENTRIES))
}

const storedOf = (text: string): Buffer => {
  const address = parseAddress(text)
  if (typeof address === 'string') throw new Error(address)
  return address.bytes
}

it('lists the first 100 of 6,000 journalled bids, and decides by all of them', async () => {
  const taken = freshName()
  const free = freshName()
  const tx = randomHash()
  const winner = randomAddress()
  await world.append('mainnet', [bid({ from: randomAddress(), name: taken })])
  const greatest = 2n ** 256n - 1n
  // in log order: the only bid that wins is far behind those that are shown
  const bids = Array.from({ length: MANY }, (_, i) =>
    bid({
      from: i === 5_000 ? winner : randomAddress(),
      name: i === 5_000 ? free : taken,
      tx,
      block: 200,
      logIndex: 7 + 3 * i,
      amountWei: i === 10 ? greatest : MINIMUM_WEI + BigInt(i),
    }),
  )
  await appendAll(bids)
  await insertConfirmedCredits(
    world.pool,
    'mainnet',
    Array.from({ length: MANY }, (_, i) => ({
      block: 200,
      logIndex: 8 + 3 * i,
      txHash: fromHex(tx),
      wallet: storedOf(winner),
      eid: 0,
      amountWei: 2n,
    })),
  )
  const sum = bids.reduce((all, _, i) => all + (i === 10 ? greatest : MINIMUM_WEI + BigInt(i)), 0n)

  const rows = countRows(world.pool)
  const found = await statusOf(tx)
  expect(rows.most()).toBeLessThanOrEqual(SHOWN + 1)

  expect(found).toMatchObject({
    status: 'lost_bid',
    reason: 'name_taken',
    sender: winner,
    paid: { token: 'native', amount: String(sum) },
    credit: { eid: 0, amountWei: String(2 * MANY) },
    more: MANY - SHOWN,
    block: 200,
    hubTx: tx,
  })
  expect(found.names).toHaveLength(SHOWN)
  expect(new Set(found.names.map(({ name }: { name: string }) => name))).toEqual(new Set([taken]))
  expect((await world.get(`/v0.1/register/tx/${tx}`)).body).toEqual({ tx, status: 'lost_bid' })

  const again = countRows(world.pool)
  const both = [fromHex(tx), fromHex(randomHash()), fromHex(tx)]
  const [first, none, last] = await findJournalledTxs(world.pool, 'mainnet', both)
  expect([last, none]).toEqual([first, null])
  expect(again.most()).toBeLessThanOrEqual(SHOWN + 1)
})

it.each([
  [SHOWN - 1, undefined],
  [SHOWN, undefined],
  [SHOWN + 1, 1],
  [SHOWN + 2, 2],
])('of %i names has more: %s, in the tail and in the journal', async (count, more) => {
  const tx = randomHash()
  const names = Array.from({ length: count }, () => freshName())
  const from = randomAddress()
  const block = 300 + count
  const bids = names.map((name, i) => bid({ from, name, tx, block, logIndex: i }))
  const shown = names.slice(0, SHOWN)
  const paid = { token: 'native', amount: String(BigInt(count) * MINIMUM_WEI) }

  await world.tail('mainnet', [tailBlock(block, bids)])
  const pending = await statusOf(tx)
  expect([pending.status, pending.step, pending.more]).toEqual(['pending', 'leading', more])
  expect(pending).toMatchObject({ paid, names: shown.map((name) => ({ name })) })
  await world.tail('mainnet', [])

  await world.append('mainnet', bids)
  const done = await statusOf(tx)
  expect([done.status, done.more, done.sender]).toEqual(['finalized', more, from])
  expect(done).toMatchObject({ paid, names: shown.map((name) => ({ name, outcome: 'won' })) })
})

it('lists the first 100 of 6,000 unconfirmed bids', async () => {
  const taken = freshName()
  const tx = randomHash()
  const from = randomAddress()
  await world.append('mainnet', [bid({ from, name: taken })])
  const names = Array.from({ length: MANY }, (_, i) => (i === 0 ? taken : freshName()))
  const bids = names.map((name, i) => bid({ from, name, tx, block: 900, logIndex: 2 * i }))
  await world.tail('mainnet', [tailBlock(900, bids)])
  const rows = countRows(world.pool)
  const found = await statusOf(tx)
  expect(rows.most()).toBeLessThanOrEqual(SHOWN + 1)
  expect(found).toMatchObject({
    status: 'pending',
    step: 'behind',
    paid: { amount: String(BigInt(MANY) * MINIMUM_WEI) },
    more: MANY - SHOWN,
  })
  expect(found.names.map(({ name }: { name: string }) => name)).toEqual(names.slice(0, SHOWN))
  await world.tail('mainnet', [])
})

const word = () => toHex(randomBytes(32))

/** Messages of one transaction on a spoke, each with its names. */
async function send(tx: Hex, messages: readonly (readonly string[])[]): Promise<Buffer[]> {
  const sent = messages.map((names, i) => {
    const path = { nonce: BigInt(i + 1), srcEid: 5, sender: word(), dstEid: 6, receiver: word() }
    const bids = names.map((name) => ({ name, amountWei: MINIMUM_WEI }))
    const message = encodeHubMessage(pad('0x1'), encodePlaceBidsCalldata(bids, null))
    const packet = encodePacket({ ...path, guid: packetGuid(path), message })
    return {
      guid: fromHex(packetGuid(path)),
      txHash: fromHex(tx),
      blockHash: randomBytes(32),
      block: 5,
      logIndex: i,
      from: fromHex(pad('0x1')),
      packet: fromHex(packet),
      options: Buffer.alloc(0),
      sentMs: START_MS,
    }
  })
  await writeMessages(world.pool, HUB, { isConfirmed: true, block: 0 }, sent)
  return sent.map(({ guid }) => guid)
}

it('lists the first 100 names of many messages, whose bids are among thousands of one transaction of the hub', async () => {
  const tx = randomHash()
  const hubTx = randomHash()
  const block = 1_500
  const messages = Array.from({ length: 3 }, () => Array.from({ length: 60 }, () => freshName()))
  const guids = await send(tx, messages)
  expect(await statusOf(tx)).toMatchObject({ status: 'bridging', more: 80 })

  // 4,000 bids of a stranger, then those of the messages, each list followed by its receipt
  const stranger = randomAddress()
  const noise = Array.from({ length: 4_000 }, (_, i) =>
    bid({ from: stranger, name: messages[2]![0]!, tx: hubTx, block, logIndex: i }),
  )
  const own = messages.map((names, k) =>
    names.map((name, i) =>
      bid({ from: randomAddress(), name, tx: hubTx, block, logIndex: 5_000 + 100 * k + i }),
    ),
  )
  await appendAll([...noise, ...own.flat()])
  const receipts = guids.map((guid, k) => ({
    guid,
    txHash: fromHex(hubTx),
    block,
    logIndex: 5_000 + 100 * k + 60,
    bids: 60,
  }))
  await writeMessageReceipts(world.pool, 'mainnet', { isConfirmed: true, block: 0 }, receipts)

  const rows = countRows(world.pool)
  const found = await statusOf(tx)
  expect(rows.most()).toBeLessThanOrEqual(2 * 60)
  expect(found).toMatchObject({ status: 'finalized', hubTx, hubBlock: block, more: 80 })
  const shown = messages.flat().slice(0, SHOWN)
  expect(found.names).toEqual(shown.map((name) => ({ name, outcome: 'won' })))
})

it('finds the bids of a message in the tail among thousands of others', async () => {
  const tx = randomHash()
  const hubTx = randomHash()
  const names = [freshName(), freshName()]
  const [guid] = await send(tx, [names])
  const noise = Array.from({ length: 3_000 }, (_, i) =>
    bid({ from: randomAddress(), name: names[1]!, tx: hubTx, block: 950, logIndex: i }),
  )
  const own = names.map((name, i) =>
    bid({ from: randomAddress(), name, tx: hubTx, block: 950, logIndex: 4_000 + i }),
  )
  await world.tail('mainnet', [tailBlock(950, [...noise, ...own])])
  const receipt = { guid: guid!, txHash: fromHex(hubTx), block: 950, logIndex: 4_002, bids: 2 }
  await inTransaction(world.pool, (client) =>
    writeMessageReceipts(client, 'mainnet', { isConfirmed: false, block: 950 }, [receipt]),
  )
  const rows = countRows(world.pool)
  expect(await statusOf(tx)).toMatchObject({
    status: 'bridging',
    step: 'leading',
    hubTx,
    names: [
      { name: names[0], outcome: 'leading' },
      { name: names[1], outcome: 'behind' },
    ],
  })
  expect(rows.most()).toBeLessThanOrEqual(4)
  await world.tail('mainnet', [])
})

/** Columns that only payments for names on the hub have, and those of payments for community names. */
const OF_KIND = {
  1: [
    'source, quote_id, amount_wei, expires_at, verdict, reclaimable_ms',
    "'\\x01', sha256(i::text::bytea), 1, i, 1, i",
  ],
  2: [
    'community_word, community, recipient, number, reclaimable_ms',
    "sha256(i::text::bytea), 'x', 'r', i, i",
  ],
} as const

/** Payments of one transaction, in two tokens by turns. */
async function pay(kind: 1 | 2, tx: Buffer, count: number, token: string): Promise<void> {
  const [columns, values] = OF_KIND[kind]
  await world.pool.query(
    `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word,
       name, paid_ms, ${columns})
     SELECT 0, sha256($1::bytea || i::text::bytea), $2, 1, 1, $1, 5, i, '\\x01',
       CASE WHEN i % 2 = 0 THEN 'native' ELSE $3 END, i, $4, 'x', i, ${values} FROM generate_series(1, $5::int) i`,
    [tx, kind, token, nameToWord('paid'), count],
  )
}

it.each([
  ['for names on the hub, on Solana', 1, randomBytes(64)],
  ['for community names', 2, randomBytes(32)],
] as const)('sums all payments %s, and lists 100', async (_what, kind, tx) => {
  const token = randomAddress()
  await pay(kind, tx, 1_000, token)
  const rows = countRows(world.pool)
  const found = await statusOf(kind === 1 ? bs58.encode(tx) : toHex(tx))
  expect(rows.most()).toBeLessThanOrEqual(SHOWN + 1)
  expect(found).toMatchObject({ paid: { token, amount: String(500 ** 2) }, more: 1_000 - SHOWN })
  expect(found.names).toHaveLength(SHOWN)
})
