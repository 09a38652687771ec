import { join } from 'node:path'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { readJournalRange } from '../../src/db/feed/feed.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { STATE_TABLES } from '../../src/db/journal/partitions.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { computeStateHash } from '../../src/db/journal/stateHash.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import type { Network } from '../../src/registry/primitives/network.js'
import { readGolden } from '../golden/journal.js'
import { useDatabase } from '../support/database.js'

const golden = readGolden(join(import.meta.dirname, '../golden/journal.json.gz'))
const database = useDatabase()

const append = (network: Network, from: number, to: number) =>
  inTransaction(database.pool, (client) =>
    appendEntries(client, network, golden.entries.slice(from, to).map(decodeEntry), {
      writerMs: Number.POSITIVE_INFINITY,
    }),
  )

const counts = async (network: Network) => {
  const { rows } = await database.pool.query<{ part: string; rows: number }>(
    `SELECT c.relname AS part, (SELECT count(*)::int FROM journal j WHERE j.tableoid = c.oid) AS rows
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass ORDER BY c.oid`,
    [`journal_${network}`],
  )
  return Object.fromEntries(
    rows.map(({ part, rows }) => [part.slice(`journal_${network}_`.length), rows]),
  )
}

test('rows after the first partitions go into the last one, which refuses duplicate logs too', async () => {
  await database.pool.query('UPDATE journal_heads SET seq = 19999999 WHERE network = 1')
  await append('testnet', 0, 60)
  expect(await counts('testnet')).toEqual({ 0: 0, 1: 0, rest: 60 })
  const copy = `INSERT INTO journal SELECT network, generation, seq + 1000, kind, chain, block, log_index, tx_key, at_ms,
    public_first, public_count, actor, body, effects, ruleset FROM journal_testnet_rest WHERE chain IS NOT NULL LIMIT 1`
  await expect(database.pool.query(copy)).rejects.toThrow(/journal_testnet_rest\w*position/)
})

test('a journal in batches of any size gives the same tables, replay and feed', async () => {
  const { pool } = database
  const total = golden.entries.length
  for (let done = 0, size = 1; done < total; done += size, size = (size * 7) % 101) {
    await append('mainnet', done, done + size)
  }
  expect(await inTransaction(pool, (client) => computeStateHash(client, 'mainnet', 1))).toBe(
    golden.hash,
  )
  const { live, rebuilt } = await replayJournal(pool, 'mainnet')
  expect([live, rebuilt]).toEqual([golden.hash, golden.hash])
  const page = (
    order: 'oldest' | 'newest',
    first: number | null,
    limit: number,
    events = Number.MAX_SAFE_INTEGER,
  ) => readJournalRange(pool, 'mainnet', { order, first, limit, floor: 1, events, from: null })
  const { rows } = await page('oldest', 1, total)
  const paged: number[] = []
  for (let first = 1; ; ) {
    const next = (await page('oldest', first, 7)).rows
    if (next.length === 0) break
    paged.push(...next.map(({ publicFirst }) => publicFirst))
    first = next.at(-1)!.publicFirst + next.at(-1)!.publicCount
  }
  expect(paged).toEqual(rows.map(({ publicFirst }) => publicFirst))
  expect((await page('newest', null, total)).rows.map(({ publicFirst }) => publicFirst)).toEqual(
    paged.toReversed(),
  )
  // up to the event after the tenth, and no further
  const { rows: ten } = await page('oldest', rows[5]!.publicFirst, total, 10)
  const end = rows[5]!.publicFirst + 10
  expect(ten).toEqual(
    rows.filter(({ publicFirst }) => publicFirst >= rows[5]!.publicFirst && publicFirst <= end),
  )
  const { rows: last, newest } = await page('newest', null, total, 10)
  expect(last).toEqual(
    rows.filter((row) => row.publicFirst + row.publicCount > newest - 10).toReversed(),
  )
})

test('a replay folds without a snapshot, and includes entries that are appended meanwhile', async () => {
  const { pool } = database
  let held: number | null = null
  let heads = 0
  await pool.query('UPDATE journal_heads SET seq = 0, public_seq = 0, serial = 0 WHERE network = 1')
  await pool.query('DELETE FROM journal WHERE network = 1')
  for (const table of STATE_TABLES) await pool.query(`DELETE FROM ${table} WHERE network = 1`)
  await append('testnet', 0, 50)
  const reader = Object.create(await pool.connect())
  const meanwhile = async () => {
    const sql =
      'SELECT FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()'
    held = (await pool.query(sql)).rowCount
    await append('testnet', 50, 80)
  }
  reader.query = (asked: pg.QueryConfig, values?: unknown[]) => {
    const ask = () => Object.getPrototypeOf(reader).query(asked, values)
    // append when the replay reads the head after its first batch
    return asked.text?.includes('journal_heads') && ++heads === 3 ? meanwhile().then(ask) : ask()
  }
  const clients = [reader]
  const watched = { connect: async () => clients.pop() ?? pool.connect() } as pg.Pool
  const { live, rebuilt, entries } = await replayJournal(watched, 'testnet')
  expect(held).toBe(0)
  expect(entries).toBe(80)
  expect(live).toBe(rebuilt)
})
