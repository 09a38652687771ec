import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendEntries } from '../../src/db/journal/append.js'
import { readStretch } from '../../src/db/journal/feed.js'
import { PARTITION_ENTRIES } from '../../src/db/journal/partitions.js'
import { replay } from '../../src/db/journal/replay.js'
import { stateHash } from '../../src/db/journal/stateHash.js'
import { STATE_TABLES } from '../../src/db/pg/partitions.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import type { Network } from '../../src/registry/primitives/network.js'
import { readGolden } from '../golden/journal.js'
import { useDatabase } from './database.js'

const golden = readGolden(join(import.meta.dirname, '../golden/journal.json.gz'))
const database = useDatabase()

const append = (network: Network, from: number, to: number, epoch?: number) =>
  inTransaction(database.pool, (client) =>
    appendEntries(client, network, golden.entries.slice(from, to).map(decodeEntry), {
      ...(epoch !== undefined && { epoch }),
      writerMs: Number.POSITIVE_INFINITY,
    }),
  )

const counts = async (network: Network) => {
  const { rows } = await database.pool.query<{ part: string; rows: number }>(
    `SELECT c.relname AS part, (SELECT count(*)::int FROM journal j WHERE j.tableoid = c.oid) AS rows
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass ORDER BY c.oid`,
    [`journal_${network}`],
  )
  return Object.fromEntries(rows.map(({ part, rows }) => [part.slice(`journal_${network}_`.length), rows]))
}

test('the indexer makes the next partition before the journal gets there', async () => {
  const moveTo = (seq: number) => database.pool.query('UPDATE journal_heads SET seq = $1 WHERE network = 1', [seq])
  expect(await counts('testnet')).toEqual({ 0: 0, 1: 0 })
  await moveTo(PARTITION_ENTRIES - 6)
  await append('testnet', 0, 5, 0)
  expect(await counts('testnet')).toEqual({ 0: 5, 1: 0 })
  await append('testnet', 5, 10, 0)
  expect(await counts('testnet')).toEqual({ 0: 5, 1: 5, 2: 0 })
  await moveTo(2 * PARTITION_ENTRIES - 1)
  await append('testnet', 10, 60, 0)
  expect(await counts('testnet')).toEqual({ 0: 5, 1: 5, 2: 50, 3: 0 })
})

test('a partition that was made refuses a log twice, as the first ones do', async () => {
  const copy = `INSERT INTO journal SELECT network, generation, seq + 1000, kind, chain, block, log_index, tx_key, at_ms,
    public_first, public_count, actor, body, effects, ruleset FROM journal_testnet_2 WHERE chain IS NOT NULL LIMIT 1`
  await expect(database.pool.query(copy)).rejects.toThrow(/journal_testnet_2\w*chain\w*/)
})

test('signed changes make no tables: they may run without the right to', async () => {
  await database.pool.query('UPDATE journal_heads SET seq = $1 WHERE network = 1', [3 * PARTITION_ENTRIES - 1])
  await append('testnet', 60, 65)
  expect(await counts('testnet')).toEqual({ 0: 5, 1: 5, 2: 50, 3: 5 })
})

test('a journal in many partitions gives the tables, the hash, the replay and the feed of one in a single one', async () => {
  const { pool } = database
  const total = golden.entries.length
  const cut = Math.ceil(total / 5)
  await pool.query('DROP TABLE journal_mainnet_1')
  await pool.query('ALTER TABLE journal_mainnet DETACH PARTITION journal_mainnet_0')
  await pool.query(`ALTER TABLE journal_mainnet ATTACH PARTITION journal_mainnet_0 FOR VALUES FROM (0) TO (${cut})`)
  for (let n = 1; n <= 5; n++) {
    await pool.query(`CREATE TABLE journal_mainnet_${n} (LIKE journal_mainnet_0 INCLUDING ALL)`)
    const range = `FROM (${n * cut}) TO (${(n + 1) * cut})`
    await pool.query(`ALTER TABLE journal_mainnet ATTACH PARTITION journal_mainnet_${n} FOR VALUES ${range}`)
  }
  for (let done = 0, size = 1; done < total; done += size, size = (size * 7) % 101) {
    await append('mainnet', done, done + size)
  }
  expect(Object.values(await counts('mainnet')).filter((rows) => rows > 0).length).toBeGreaterThanOrEqual(5)
  expect(await inTransaction(pool, (client) => stateHash(client, 'mainnet', 1))).toBe(golden.hash)
  const { live, rebuilt } = await replay(pool, 'mainnet')
  expect([live, rebuilt]).toEqual([golden.hash, golden.hash])
  const page = (order: 'oldest' | 'newest', first: number | null, limit: number, events = Number.MAX_SAFE_INTEGER) =>
    readStretch(pool, 'mainnet', { order, first, limit, floor: 1, events, from: null })
  const { rows } = await page('oldest', 1, total)
  const paged: number[] = []
  for (let first = 1; ; ) {
    const next = (await page('oldest', first, 7)).rows
    if (next.length === 0) break
    paged.push(...next.map(({ publicFirst }) => publicFirst))
    first = next.at(-1)!.publicFirst + next.at(-1)!.publicCount
  }
  expect(paged).toEqual(rows.map(({ publicFirst }) => publicFirst))
  expect((await page('newest', null, total)).rows.map(({ publicFirst }) => publicFirst)).toEqual(paged.toReversed())
  // as far as the event that follows ten, and no further
  const { rows: ten } = await page('oldest', rows[5]!.publicFirst, total, 10)
  const end = rows[5]!.publicFirst + 10
  expect(ten).toEqual(rows.filter(({ publicFirst }) => publicFirst >= rows[5]!.publicFirst && publicFirst <= end))
  const { rows: last, newest } = await page('newest', null, total, 10)
  expect(last).toEqual(rows.filter((row) => row.publicFirst + row.publicCount > newest - 10).toReversed())
})

test('a replay folds without a snapshot, and takes in what is appended meanwhile', async () => {
  const { pool } = database
  const held: number[] = []
  let isFirst = true
  await pool.query('UPDATE journal_heads SET seq = 0, public_seq = 0, serial = 0 WHERE network = 1')
  await pool.query('DELETE FROM journal WHERE network = 1')
  for (const table of STATE_TABLES) await pool.query(`DELETE FROM ${table} WHERE network = 1`)
  await append('testnet', 0, 50)
  const { live, rebuilt, entries } = await replay(pool, 'testnet', {
    onProgress: async () => {
      const { rows } = await pool.query(
        'SELECT count(*)::int AS held FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()',
      )
      held.push(rows[0].held)
      if (isFirst) await append('testnet', 50, 80)
      isFirst = false
    },
  })
  expect(held[0]).toBe(0)
  expect(entries).toBe(80)
  expect(live).toBe(rebuilt)
})
