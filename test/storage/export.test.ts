import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportTo, type Plan } from '../../src/cli/export/export.js'
import { importFrom, verify } from '../../src/cli/export/import.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { copiedTables, FILLED_TABLES, TABLES } from '../../src/db/journal/export/tables.js'
import { replay } from '../../src/db/journal/replay.js'
import { createPool, inTransaction } from '../../src/db/pg/pool.js'
import { readEvents } from '../../src/push/events.js'
import { decodeChange } from '../../src/registry/journal/change.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { ENTRY_KIND } from '../../src/registry/journal/entry.js'
import { FEED_START, feedHash } from '../../src/registry/journal/feedHash.js'
import { NETWORKS } from '../../src/registry/primitives/network.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { readGolden } from '../golden/journal.js'
import { useDatabase } from './database.js'

const golden = readGolden(join(import.meta.dirname, '../golden/journal.json.gz'))
const dir = mkdtempSync(join(tmpdir(), 'clusterd-export-'))
const database = useDatabase()
const key = randomBytes(32)
const PRIVATE: Plan = { key, isPublic: false, networks: NETWORKS }
const PUBLIC: Plan = { key: null, isPublic: true, networks: NETWORKS }
let copies = 0

afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Rows of every table that no journal gives, and of the tail. */
const SAMPLES = `
  INSERT INTO chains VALUES (0, 1, '1', '', 1, '\\x01', '\\x02', NULL, 7, '\\x03', 'a reason');
  INSERT INTO facts VALUES (0, 1, '\\x04', 0, 8, 1, '\\x05', 'name', 9, '\\x06');
  INSERT INTO tail_blocks VALUES (0, 1, 8, '\\x04', '\\x03', 9);
  INSERT INTO messages VALUES (0, '\\x07', 1, 5, '\\x08', 0, '\\x09', '\\x0a', 1, '\\x0b', '\\x0c', true);
  INSERT INTO received VALUES (0, '\\x07', '\\x0d', 6, 1, 1, true);
  INSERT INTO hub_credits VALUES (0, 6, 0, '\\x0d', '\\x0e', 0, 12345678901234567890123);
  INSERT INTO payment_cursors VALUES (0, 1, '\\x0f', 5, 6, 7);
  INSERT INTO jobs (network, kind, chain, subject, created_ms, updated_ms, txs) VALUES (0, 2, 1, '\\x07', 1, 2, '[{"raw": "0x"}]');
  INSERT INTO relay_signers VALUES (0, 1, '\\x10', 3);
  INSERT INTO tracked_txs VALUES (0, '\\x11', 1, NULL, NULL, 1, 2, 'never_signed');
  INSERT INTO sessions VALUES ('\\x12', '\\x13', 1, 'sig', 2, 3);
  INSERT INTO api_keys VALUES ('\\x14', NULL, NULL, 'partner', 5, 6, 7);
  INSERT INTO wallet_shares VALUES (0, '\\x15', '\\x16', '\\x17', '\\x18', 1);
  INSERT INTO airdrops (network, community, label, merkle_root, file_hash, leaf_count, total, state, created_ms)
    VALUES (0, 'club', '1', '\\x19', '\\x1a', 1, 5, 0, 1);
  INSERT INTO airdrop_allocations VALUES (0, 1, '\\x1b', 0, 0, 5);
  INSERT INTO airdrop_pages VALUES (0, 1, 0, '\\x1c');
  INSERT INTO airdrop_claims VALUES (0, 1, 0, '\\x1d', 5, '\\x1e', 0, '\\x1f', true);
  INSERT INTO webhooks (network, url, key, seen, delivered, failures, next_ms, lease_ms, created_ms)
    VALUES (0, 'https://example.org', '\\x20', 0, 0, 0, 0, 0, 1);
  INSERT INTO webhook_failures VALUES (1, 1, 'message', NULL, 'reason');
  INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word, paid_ms, community_word, recipient, number)
    VALUES (0, '\\x21', 2, 1, 0, '\\x22', 5, 0, '\\x23', 'native', 12, '\\x24', 1, '\\x25', 'r', 1);`

beforeAll(async () => {
  await inTransaction(database.pool, async (client) => {
    const options = { writerMs: Number.POSITIVE_INFINITY }
    await appendEntries(client, 'mainnet', golden.entries.map(decodeEntry), options)
    await appendEntries(client, 'testnet', golden.entries.slice(0, 40).map(decodeEntry), options)
    await client.query(SAMPLES)
    await client.query('UPDATE journal_heads SET generation = 1, feed_generation = 3')
  })
  for (const network of NETWORKS) await checkpoint(network)
})

/** Puts the checkpoint that the leader would have written. */
async function checkpoint(network: (typeof NETWORKS)[number]): Promise<void> {
  const { generation, newest, events } = (await readEvents(database.pool, network, { first: 1, limit: 1e6 }))!
  const hash = events.reduce((before, { json }) => feedHash(before, json), FEED_START)
  const code = NETWORKS.indexOf(network)
  await database.pool.query('INSERT INTO feed_checkpoints VALUES ($1, $2, $3, $4)', [code, generation, newest, hash])
}

async function emptyDatabase(): Promise<string> {
  copies += 1
  return createDatabase(database.url, `copy_${copies}`)
}

async function withCopy<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = createPool({ url, max: 2, applicationName: 'copy' })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

/** All rows of a table as text, in one order. */
async function rowsOf(pool: pg.Pool, table: string, without = ''): Promise<string[]> {
  const { rows } = await pool.query(`SELECT (to_jsonb(t)${without})::text AS row FROM ${table} t ORDER BY 1`)
  return rows.map(({ row }) => row)
}

describe('the tables of an export', () => {
  it('are all those of the schema, each in the document', async () => {
    const { rows } = await database.pool.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    )
    const names = rows.map(({ relname }) => relname).filter((name) => name !== 'migrations')
    expect(names.sort()).toEqual(Object.keys(TABLES).sort())
    const document = readFileSync('docs/backup.md', 'utf8')
    expect(names.filter((name) => !document.includes(`\`${name}\``))).toEqual([])
  })
})

describe('an encrypted export', () => {
  const file = join(dir, 'whole')

  it('gives the same rows of every table, and the same state hash', async () => {
    const written = await exportTo(database.pool, file, PRIVATE)
    expect(written.networks.mainnet).toMatchObject({ seq: golden.entries.length, stateHash: golden.hash, feed: 3 })
    expect((await verify(file, key)).checksum).toBe(written.checksum)
    const url = await emptyDatabase()
    const imported = await importFrom(url, file, key)
    expect(imported.mainnet).toMatchObject({ entries: golden.entries.length, stateHash: golden.hash })
    expect(imported.mainnet!.feed.to).toBeGreaterThan(3)
    await withCopy(url, async (pool) => {
      for (const table of [...FILLED_TABLES, 'deployment']) {
        // a job is looked at again at once
        const without = table === 'jobs' ? ` - 'version' - 'next_ms'` : ''
        const rows = await rowsOf(pool, table, without)
        expect(rows, table).toEqual(await rowsOf(database.pool, table, without))
        // recorded before there was one
        if (table !== 'moves') expect(rows.length, table).toBeGreaterThan(0)
      }
      const { live, rebuilt } = await replay(pool, 'mainnet')
      expect([live, rebuilt]).toEqual([golden.hash, golden.hash])
      const { rows } = await pool.query(`INSERT INTO jobs (network, kind, chain, created_ms, updated_ms)
        VALUES (0, 3, 1, 1, 1) RETURNING id`)
      expect(rows[0].id).toBe(2)
    })
  })

  it('is imported into an empty database only', async () => {
    await expect(importFrom(database.url, file, key)).rejects.toThrow(
      'the database is in use: its table chains has rows. Import into an empty one.',
    )
  })

  it('is not made by a version that knows not all of the tables', async () => {
    await database.pool.query(`INSERT INTO migrations (name, checksum) VALUES ('29990101000000_more', '')`)
    const late = join(dir, 'late')
    await expect(exportTo(database.pool, late, PRIVATE)).rejects.toThrow(
      'the database is of a newer version (29990101000000_more)',
    )
    expect(existsSync(late)).toBe(false)
    await database.pool.query(`DELETE FROM migrations WHERE name LIKE '2999%'`)
  })

  it('that was cut goes on where it stopped, while the registry grows', async () => {
    const part = join(dir, 'part')
    copyFileSync(file, part)
    truncateSync(part, statSync(file).size - 400)
    await expect(verify(part, key)).rejects.toThrow(/is cut behind byte/)
    await inTransaction(database.pool, (client) =>
      appendEntries(client, 'testnet', golden.entries.slice(40, 50).map(decodeEntry), { writerMs: 1e15 }),
    )
    const written = await exportTo(database.pool, part, PRIVATE, true)
    expect(written.networks.testnet!.seq).toBe(40)
    const url = await emptyDatabase()
    expect(await importFrom(url, part, key)).toMatchObject({ mainnet: { stateHash: golden.hash } })
    truncateSync(part, 30)
    expect((await exportTo(database.pool, part, PRIVATE, true)).networks.testnet!.seq).toBe(50)
    await expect(exportTo(database.pool, part, PRIVATE, true)).rejects.toThrow('is whole: there is nothing to go on')
    await expect(exportTo(database.pool, part, PRIVATE)).rejects.toThrow('exists: name another file')
  })

  it('changes nothing where it is cut, or is not what it says', async () => {
    const part = join(dir, 'cut')
    copyFileSync(file, part)
    truncateSync(part, statSync(file).size - 400)
    const url = await emptyDatabase()
    await expect(importFrom(url, part, key)).rejects.toThrow(/is cut behind byte/)
    await withCopy(url, async (pool) => {
      for (const table of FILLED_TABLES) expect(await rowsOf(pool, table), table).toEqual([])
      const { rows } = await pool.query(`SELECT FROM pg_namespace WHERE nspname = 'clusterd_import'`)
      expect(rows).toEqual([])
    })
    expect(await importFrom(url, file, key)).toMatchObject({ mainnet: { stateHash: golden.hash } })
  })
})

describe('a public export', () => {
  const file = join(dir, 'public')

  it('gives the same feed and the public rows, and nothing private', async () => {
    const source = await database.pool.query('SELECT address FROM wallets WHERE private AND network = 0')
    expect(source.rows.length).toBeGreaterThan(0)
    const hidden = `INSERT INTO community_names SELECT network, 'club', 'hidden', address, true, cluster, created_seq, address
      FROM wallets WHERE network = 0 AND private LIMIT 1`
    expect((await database.pool.query(hidden)).rowCount).toBe(1)
    // whose claim a name was for
    const claimed = `UPDATE journal SET body = convert_to(replace(convert_from(body, 'UTF8'), '"met":null,"isAssigned":true',
      '"met":"' || repeat('c1', 32) || '","isAssigned":true'), 'UTF8') WHERE network = 0 AND kind = ${ENTRY_KIND.register_community_name}
      AND convert_from(body, 'UTF8') LIKE '%"isAssigned":true%' AND public_count > 0`
    expect((await database.pool.query(claimed)).rowCount).toBe(1)
    const written = await exportTo(database.pool, file, PUBLIC)
    const { seq, checkpoint } = written.networks.mainnet!
    expect(seq).toBeLessThan(golden.entries.length)
    expect(checkpoint.count).toBeGreaterThan(10)
    const url = await emptyDatabase()
    await importFrom(url, file, null)
    await withCopy(url, async (pool) => {
      await expect(replay(pool, 'mainnet')).rejects.toThrow('is a public copy’s: it lacks what is private')
      const events = async (db: pg.Pool) =>
        (await readEvents(db, 'mainnet', { first: 1, limit: 1e6 }))!.events.map(({ json }) =>
          json.replace(/"m-\d+-/, '"m-'),
        )
      expect(await events(pool)).toEqual(await events(database.pool))
      const publicWallets = `(SELECT network, cluster, address, name, verified, backed_up FROM wallets WHERE NOT private AND network = 0)`
      expect(await rowsOf(pool, publicWallets)).toEqual(await rowsOf(database.pool, publicWallets))
      expect((await pool.query('SELECT FROM wallets WHERE private')).rows).toEqual([])
      const { rows: assigned } = await pool.query(`SELECT assigned, claim FROM community_names WHERE name = 'hidden'`)
      expect(assigned).toEqual([{ assigned: null, claim: null }])
      const { rows: bodies } = await pool.query(
        `SELECT convert_from(body, 'UTF8') AS body FROM journal WHERE kind = ${ENTRY_KIND.register_community_name} AND network = 0`,
      )
      for (const { body } of bodies) decodeChange('register_community_name', Buffer.from(body))
      const names = '(SELECT network, name, cluster, outcome FROM names WHERE network = 0)'
      expect(await rowsOf(pool, names)).toEqual(await rowsOf(database.pool, names))
      // bodies of changes name nobody who is private
      for (const { address } of source.rows) {
        const text = `SELECT kind FROM journal WHERE chain IS NULL AND position($1::bytea IN decode(encode(body, 'hex'), 'hex')) > 0
          OR chain IS NULL AND position(encode($1, 'hex') IN convert_from(body, 'UTF8')) > 0`
        expect((await pool.query(text, [address])).rows).toEqual([])
      }
      // nor that a name came with a claim, which tells of its owner that it is in a bundle
      const telling = `SELECT FROM journal WHERE kind = ${ENTRY_KIND.register_community_name} AND network = 0
        AND convert_from(body, 'UTF8') NOT LIKE '%,"met":null,"isAssigned":false}'`
      expect((await database.pool.query(telling)).rows).not.toEqual([])
      expect((await pool.query(telling)).rows).toEqual([])
      for (const table of Object.keys(TABLES) as (keyof typeof TABLES)[])
        if (TABLES[table].kept === 'here' && table !== 'deployment')
          expect(await rowsOf(pool, table), table).toEqual([])
      for (const table of copiedTables(true)) expect(await rowsOf(pool, table), table).not.toEqual([])
    })
  })
})
