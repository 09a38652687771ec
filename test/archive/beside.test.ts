import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { appendEntries } from '../../src/db/journal/append.js'
import { lastArchived } from '../../src/db/journal/archive/archives.js'
import { dropArchives, restoreArchives, writeArchives } from '../../src/db/journal/archive/index.js'
import { type Manifest, readExport } from '../../src/db/journal/export/read.js'
import { replay } from '../../src/db/journal/replay.js'
import { createPool, inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { readGolden } from '../golden/journal.js'
import { useDatabase } from '../storage/database.js'
import { age, cutJournal } from '../support/smallPartitions.js'

/** A drop beside what reads the journal, or cleans it. */

const { entries } = readGolden(join(import.meta.dirname, '../golden/journal.json.gz'))
const TIME = { timeout: 60_000, interval: 50 }
const database = useDatabase()
const dir = mkdtempSync(join(tmpdir(), 'clusterd-archive-'))
const options = { network: 'mainnet', dir } as const
const sql = (text: string) => database.pool.query(text)
const drop = () => dropArchives(database.pool, options)

beforeAll(async () => {
  await inTransaction(database.pool, (client) =>
    appendEntries(client, 'mainnet', entries.map(decodeEntry), { writerMs: Number.POSITIVE_INFINITY }),
  )
  await cutJournal(database.pool, 20)
  await age(database.pool)
  await sql('UPDATE chains SET next_block = 1000000000')
  await writeArchives(database.pool, options)
})
beforeEach(() => restoreArchives(database.pool, options))
afterAll(() => rmSync(dir, { recursive: true }))

it('a replay that compares is waited for: it saw tables from before, and a journal from after', async () => {
  const [reader, holder] = [await database.pool.connect(), await database.pool.connect()]
  const waiting = async (mode: string) =>
    (await holder.query(`SELECT FROM pg_locks WHERE NOT granted AND mode = '${mode}' AND locktype = 'relation'`))
      .rowCount
  let dropping: Promise<unknown> = Promise.resolve()
  // all is folded; the drop waits for its switch, and then what compares for a table
  const onProgress = async () => {
    await reader.query('BEGIN')
    await reader.query('LOCK TABLE journal_mainnet_0 IN ACCESS SHARE MODE')
    dropping = drop()
    await expect.poll(() => waiting('AccessExclusiveLock'), TIME).toBe(1)
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE moves_mainnet IN ACCESS EXCLUSIVE MODE')
  }
  const others = createPool({ url: database.url, max: 2, applicationName: 'test' })
  const replaying = replay(others, 'mainnet', { onProgress })
  const isComparing = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'moves_mainnet'::regclass`
  await expect.poll(async () => (await holder.query(isComparing)).rowCount, TIME).toBe(1)
  await reader.query('ROLLBACK')
  await sleep(3_000)
  await holder.query('ROLLBACK')
  const { live, rebuilt } = await replaying
  for (const client of [reader, holder]) client.release()
  await dropping
  await others.end()
  expect(rebuilt).toBe(live)
  expect(await lastArchived(database.pool, 'mainnet')).toBeGreaterThan(0)
})

it('a part of an export whose entries are dropped before it reads them is none', async () => {
  const client = await database.pool.connect()
  const exporting = (progress: { manifest: Manifest; entries: { mainnet: number } } | null) =>
    readExport(client, { networks: ['mainnet'], isPublic: false, progress })
  try {
    const { value } = await exporting(null).next()
    const { manifest } = (value as { fields: { manifest: Manifest } }).fields
    await client.query('ROLLBACK')
    await drop()
    const last = await lastArchived(database.pool, 'mainnet')
    const { rows } = await sql(`SELECT seq::int FROM generate_series(1, ${last}) AS seq
      WHERE NOT EXISTS (SELECT FROM journal j WHERE j.network = 0 AND j.seq = seq.seq) ORDER BY seq DESC LIMIT 1`)
    const done = rows[0].seq
    // of all behind it something is left
    expect(done).toBeLessThan(last)
    await expect(exporting({ manifest, entries: { mainnet: done } }).next()).rejects.toThrow('are archived: bring them')
  } finally {
    client.release()
  }
})

it('an autovacuum of a partition is ended, however long it would take', async () => {
  await sql(`DO $$ BEGIN FOR i IN 1..500 LOOP UPDATE journal_mainnet_0 SET seq = seq; END LOOP; END $$`)
  await sql('ALTER SYSTEM SET autovacuum_naptime = 1')
  await sql(`ALTER TABLE journal_mainnet_0 SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`)
  await sql('SELECT pg_reload_conf()')
  const cleaned = () =>
    sql(`SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker' AND query LIKE '%journal_mainnet_0'`)
  await expect.poll(async () => (await cleaned()).rowCount, TIME).toBe(1)
  const startedMs = performance.now()
  expect((await drop()).length).toBeGreaterThan(1)
  expect(performance.now() - startedMs).toBeLessThan(20_000)
})
