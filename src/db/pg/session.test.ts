import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasPgbouncer, startPgbouncer } from '../../../test/support/pgbouncer.js'
import { asWrongRole } from '../../../test/support/wrongRole.js'
import { type Postgres, startPostgres } from '../../testing/processes/postgres.js'
import { migrate } from './migrate.js'
import {
  createPool,
  inTransaction,
  type PoolOptions,
  poolWithQuery,
  withConnection,
} from './pool.js'

/** Settings that each session sets, even if the role, the database or the URL sets them otherwise. */

const NAMES = [
  'search_path',
  'application_name',
  'transaction_isolation',
  'synchronous_commit',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
  'jit',
  'enable_seqscan',
  'enable_bitmapscan',
  'plan_cache_mode',
  'extra_float_digits',
  'array_nulls',
  'standard_conforming_strings',
  'TimeZone',
]
const ASKED = `SELECT ${NAMES.map((name) => `current_setting('${name}') AS "${name}"`).join(', ')}`

let server: Postgres
let wrong: string
beforeAll(async () => {
  server = await startPostgres({
    dataDir: join(mkdtempSync(join(tmpdir(), 'clusterd-session-')), 'pg'),
  })
  await migrate(server.url)
  wrong = await asWrongRole(server.url)
})
afterAll(() => server.stop())

async function withPool<T>(options: Partial<PoolOptions>, work: (pool: pg.Pool) => Promise<T>) {
  const pool = createPool({ url: wrong, max: 2, applicationName: 'clusterd test', ...options })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

const STATED = {
  search_path: '"Own tables"',
  application_name: expect.stringMatching(/^clusterd /),
  transaction_isolation: 'read committed',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  synchronous_commit: 'on',
  jit: 'off',
  enable_seqscan: 'on',
  enable_bitmapscan: 'on',
  plan_cache_mode: 'auto',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  TimeZone: 'UTC',
}

describe('a session of a role with wrong settings, by a URL with wrong parameters', () => {
  const limits = {
    statementTimeoutMs: 10_000,
    idleTransactionMs: 4_000,
    answerMs: 6_000,
    isByIndex: true,
  }
  const limited = {
    ...STATED,
    statement_timeout: '10s',
    lock_timeout: '3s',
    idle_in_transaction_session_timeout: '4s',
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    plan_cache_mode: 'force_generic_plan',
  }

  it.each([
    ['without limits', {}, STATED],
    ['with limits', limits, limited],
  ])('states its own, %s', (_, options, expected) =>
    withPool(options, async (pool) => {
      expect((await pool.query(ASKED)).rows[0]).toEqual(expected)
      const inside = await inTransaction(pool, (client) => client.query(ASKED))
      expect(inside.rows[0]).toEqual(expected)
    }),
  )

  it('keeps a setting of synchronous_commit that also waits for standbys', async () => {
    const url = new URL(server.url)
    url.searchParams.set('options', '-c synchronous_commit=remote_apply')
    await withPool({ url: url.href }, async (pool) => {
      const shown = await pool.query('SHOW synchronous_commit')
      expect(shown.rows).toEqual([{ synchronous_commit: 'remote_apply' }])
    })
  })

  it('sets them outside the pools, too', async () => {
    const options = { url: wrong, applicationName: 'clusterd listener' }
    const { rows } = await withConnection(options, (client) => client.query(ASKED))
    expect(rows[0]).toEqual(STATED)
    expect(await migrate(wrong)).toEqual([])
  })

  it.runIf(hasPgbouncer)('sets them in each transaction behind a pooler', async () => {
    const pooler = await startPgbouncer(server.url, 1)
    try {
      const url = new URL(wrong)
      url.port = new URL(pooler.url).port
      const options = { ...limits, answerMs: undefined, url: url.href, isPooled: true }
      await withPool(options as Partial<PoolOptions>, async (pool) => {
        const view = poolWithQuery(pool, (config) => pool.query(config))
        const inside = await inTransaction(view, (client) => client.query(ASKED))
        const { search_path, application_name, ...rest } = limited
        // the lock timeout is shorter than the idle timeout: a waiter gives up before it inherits the lock
        expect(inside.rows[0]).toMatchObject({ ...rest, lock_timeout: '1800ms' })
      })
    } finally {
      await pooler.stop()
    }
  })

  it('has no serialization failures: changes of one row wait for each other', () =>
    withPool({ max: 8 }, async (pool) => {
      await pool.query('CREATE TABLE counter AS SELECT 0 AS n')
      const add = () =>
        inTransaction(pool, (client) => client.query('UPDATE counter SET n = n + 1'))
      await Promise.all(Array.from({ length: 40 }, add))
      expect((await pool.query('SELECT n FROM counter')).rows).toEqual([{ n: 40 }])
    }))
})

describe('the tables of a role', () => {
  /** A database with a schema that has the role's name, as the manual advises (5.9.6). */
  async function databaseOf(role: string, ...texts: string[]): Promise<string> {
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`CREATE ROLE ${role} LOGIN`)
    await admin.query(`CREATE DATABASE ${role} OWNER ${role}`)
    await admin.end()
    const url = new URL(server.url)
    url.pathname = `/${role}`
    const owner = new pg.Client({ connectionString: url.href })
    await owner.connect()
    for (const text of texts) await owner.query(text)
    await owner.end()
    url.username = role
    return url.href
  }

  const schemasOf = async (url: string, table: string) => {
    const text = 'SELECT schemaname AS name FROM pg_tables WHERE tablename = $1'
    const { rows } = await withPool({ url }, (pool) => pool.query(text, [table]))
    return rows.map(({ name }) => name)
  }

  it.each([
    [
      'with a schema of its own',
      'probe_own',
      'CREATE SCHEMA probe_own AUTHORIZATION probe_own',
      'probe_own',
    ],
    ['with none', 'probe_public', 'SELECT', 'public'],
    [
      'with a search_path',
      'probe_path',
      'CREATE SCHEMA app AUTHORIZATION probe_path; ALTER ROLE probe_path SET search_path = app',
      'app',
    ],
    [
      'with a search_path that leads nowhere',
      'probe_nowhere',
      'ALTER ROLE probe_nowhere SET search_path = nowhere',
      'public',
    ],
  ])('%s lie in one schema, where a bid counts', async (_, role, text, schema) => {
    const url = await databaseOf(role, text)
    expect((await migrate(url)).length).toBeGreaterThan(10)
    expect(await schemasOf(url, 'journal_heads')).toEqual([schema])
    expect(await schemasOf(url, 'migrations')).toEqual([schema])
    await withPool({ url }, async (pool) => {
      await pool.query(`INSERT INTO journal_heads (network, generation, seq, public_seq, at_ms, serial, minimum_wei)
        VALUES (0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING`)
      await pool.query(factOf(await requiredColumns(pool)))
      const { rows } = await pool.query('SELECT facts_version FROM journal_heads WHERE network = 0')
      expect(rows).toEqual([{ facts_version: 1 }])
    })
  })

  it('are found by another role, whose search_path leads elsewhere', async () => {
    const url = await databaseOf(
      'probe_owner',
      'CREATE SCHEMA probe_owner AUTHORIZATION probe_owner',
    )
    await migrate(url)
    const other = new URL(url)
    other.username = 'wrong'
    await withPool({ url: other.href }, async (pool) => {
      const { rows } = await pool.query(
        `SELECT to_regclass('names')::text AS names, current_schema() AS at`,
      )
      expect(rows).toEqual([{ names: 'names', at: 'probe_owner' }])
    })
  })

  interface Column {
    name: string
    type: string
  }
  async function requiredColumns(pool: pg.Pool): Promise<Column[]> {
    const { rows } =
      await pool.query(`SELECT column_name AS name, data_type AS type FROM information_schema.columns
      WHERE table_name = 'facts' AND (is_nullable = 'NO' AND column_default IS NULL OR column_name = 'name')`)
    return rows
  }
  const ZERO: Record<string, string> = {
    bytea: `'\\x00'`,
    boolean: 'false',
    jsonb: `'{}'`,
    text: `'x'`,
  }
  /** Statement that stores an unconfirmed bid, as the indexer does. */
  const factOf = (columns: Column[]) =>
    `INSERT INTO facts (${columns.map(({ name }) => name)})
     VALUES (${columns.map(({ name, type }) => (name === 'kind' ? '1' : (ZERO[type] ?? '0')))})`
})
