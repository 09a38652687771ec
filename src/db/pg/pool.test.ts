import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useServer } from '../../../test/support/database.js'
import { startTcpProxy } from '../../../test/support/tcpProxy.js'
import { startPostgres } from '../../testing/processes/postgres.js'
import { inPipeline, socketOf } from './pipeline.js'
import {
  countFreeConnections,
  createPool,
  dropConnections,
  inPipelinedTransaction,
  inTransaction,
  type PoolOptions,
  poolWithQuery,
} from './pool.js'
import { isDatabaseUnavailable } from './unavailable.js'

const server = useServer((dataDir) =>
  startPostgres({ dataDir, settings: { max_connections: '40', reserved_connections: '5' } }),
)
const pools: pg.Pool[] = []
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.end())))

/** A pool for one test. */
function open(options: Partial<PoolOptions> = {}): pg.Pool {
  const pool = createPool({ url: server.url, max: 1, applicationName: 'test', ...options })
  pools.push(pool)
  return pool
}

/** Expects work to fail as during an outage of the database. */
async function expectOutage(work: Promise<unknown>, error: object = {}): Promise<void> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toMatchObject(error)
  expect(isDatabaseUnavailable(thrown)).toBe(true)
}

it('connections that are reserved for other roles are not free', async () => {
  const pool = open()
  // of 40 one is the pool's, 3 are reserved for superusers, and 5 for other privileged roles
  await expect.poll(() => countFreeConnections(pool)).toBe(31)
})

it('a view of a pool handles only single queries differently', async () => {
  const pool = open({ max: 2 })
  const asked: string[] = []
  const view = poolWithQuery(pool, ({ text }) => {
    asked.push(text)
    return pool.query(text)
  })
  await view.query({ text: 'SELECT 1' })
  await inTransaction(view, (client) => client.query('SELECT 2'))
  expect(asked).toEqual(['SELECT 1'])
})

it('a connection that breaks while its transaction waits for something else fails only the transaction', async () => {
  const pool = open({ max: 2 })
  const transaction = inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid])
    // no query is under way, so only the event reports it
    await sleep(200)
    await client.query('SELECT 1')
  })
  await expect(transaction).rejects.toThrow()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

it('a database that refuses connections counts as an outage', async () => {
  await open().query('CREATE DATABASE closed ALLOW_CONNECTIONS false')
  const url = Object.assign(new URL(server.url), { pathname: '/closed' }).href
  await expectOutage(open({ url }).query('SELECT 1'), { code: '55000' })
})

it('a connection on which nothing may be written is dropped: a new one may lead to the primary', async () => {
  const pool = open()
  await pool.query('CREATE TABLE written (x int)')
  await pool.query('SET default_transaction_read_only = on')
  const insert = () =>
    inTransaction(pool, (client) => client.query('INSERT INTO written VALUES (1)'))
  await expectOutage(insert(), { code: '25006' })
  await insert()
})

it('a transaction that the server ended because this process stalled counts as an outage', async () => {
  const pool = open({ idleTransactionMs: 200 })
  const stalled = inTransaction(pool, async (client) => {
    await client.query('SELECT 1')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    await client.query('SELECT 1')
  })
  await expectOutage(stalled, { code: '25P03' })
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

it('the wait for a row is shorter than the time for which an idle transaction may hold it', async () => {
  const idleMs = 1_000
  const pool = open({ idleTransactionMs: idleMs, max: 8 })
  await pool.query('CREATE TABLE frozen_row (n int); INSERT INTO frozen_row VALUES (1)')
  const lock = 'SELECT FROM frozen_row FOR UPDATE'
  // simulates frozen processes: none sends a further statement once it gets the row
  const hold = () =>
    inTransaction(pool, async (client) => {
      await client.query(lock)
      await sleep(4 * idleMs)
      await client.query('SELECT 1')
    }).catch(() => {})
  const holding = Array.from({ length: 8 }, hold)
  await sleep(100)
  const startedMs = performance.now()
  await inTransaction(open(), (client) => client.query(lock))
  // one after the other they would hold it eight times as long
  expect(performance.now() - startedMs).toBeLessThan(4 * idleMs)
  await Promise.all(holding)
})

it('connections that are dropped fail the work that waits on them, and new ones take their place', async () => {
  const proxy = await startTcpProxy(server)
  const pool = open({
    url: Object.assign(new URL(server.url), { port: String(proxy.port) }).href,
    max: 3,
  })
  // two connections are idle
  await Promise.all([1, 2, 3].map(() => pool.query('SELECT pg_sleep(0.1)')))
  const transaction = inTransaction(pool, async (client) => {
    await client.query('CREATE TABLE held (id int)')
    proxy.forget()
    setTimeout(() => dropConnections(pool), 100)
    await inPipeline(client, (db) => [db.query('INSERT INTO held VALUES (1)')])
  })
  await expectOutage(transaction)
  await expect.poll(() => pool.totalCount).toBe(0)
  const held = await Promise.all(
    [1, 2, 3].map(() => pool.query(`SELECT to_regclass('held') AS held`)),
  )
  expect(held.map(({ rows }) => rows)).toEqual([1, 2, 3].map(() => [{ held: null }]))
  await proxy.stop()
})

describe('a pipelined transaction', () => {
  let pool: pg.Pool
  let client: pg.PoolClient
  beforeEach(async () => {
    pool = open()
    // the pool's only connection, which its transactions get
    client = await pool.connect()
    client.release()
    await pool.query('DROP TABLE IF EXISTS piped; CREATE TABLE piped (x int CHECK (x > 0))')
  })
  const count = async () => (await open().query('SELECT count(*)::int AS n FROM piped')).rows[0].n
  const insert = (values: readonly number[]) =>
    inPipelinedTransaction(pool, {
      reads: (db) => [db.query('SELECT 7 AS read')],
      work: async (connection, [{ rows }], commit) => {
        await inPipeline(connection, (db) => [
          ...values.map((value) => db.query(`INSERT INTO piped VALUES (${value})`)),
          commit(db),
        ])
        return rows
      },
    })

  it('takes two round trips', async () => {
    const socket = socketOf(client)
    const write = vi.spyOn(socket, '_write')
    const writeMany = vi.spyOn(socket, '_writev' as '_write')
    expect(await insert([1, 2])).toEqual([{ read: 7 }])
    expect(write.mock.calls.length + writeMany.mock.calls.length).toBe(2)
    expect(await count()).toBe(2)
  })

  it('commits nothing when a statement before its COMMIT fails', async () => {
    await expect(insert([1, -1, 2])).rejects.toMatchObject({ code: '23514' })
    expect(await count()).toBe(0)
    await insert([3])
    expect(await count()).toBe(1)
  })

  it('does no work when only its BEGIN fails', async () => {
    const query = client.query.bind(client) as (config: unknown) => Promise<unknown>
    const failBegin = (config: unknown) =>
      query(String(config).startsWith('BEGIN') ? 'SELECT 1 / 0' : config)
    Object.assign(client, { query: failBegin })
    await expect(insert([1])).rejects.toMatchObject({ code: '22012' })
    expect(await count()).toBe(0)
  })

  it('commits nothing where its patience ends while its last statements run', async () => {
    const ended = new AbortController()
    const patience = { signal: ended.signal, leftMs: () => 1_000 }
    const aborted = inPipelinedTransaction(pool, {
      patience,
      reads: () => [],
      work: async (connection, _, commit) => {
        const written = inPipeline(connection, (db) => [
          db.query('INSERT INTO piped VALUES (1)'),
          commit(db),
        ])
        ended.abort(new Error('nobody waits'))
        await written
      },
    })
    await expect(aborted).rejects.toThrow('nobody waits')
    expect(await count()).toBe(0)
  })
})

describe('a commit that waits for a standby', () => {
  const LIMIT_MS = 500
  let admin: pg.Pool
  let pool: pg.Pool
  beforeEach(async () => {
    admin = open({ max: 2 })
    await admin.query('CREATE TABLE IF NOT EXISTS t (x int)')
    pool = open({ statementTimeoutMs: LIMIT_MS })
    await standby('nobody')
  })
  afterEach(() => standby(''))
  const standby = async (name: string) => {
    const client = await admin.connect()
    await client.query('SET synchronous_commit = local')
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await client.query('SELECT pg_reload_conf()')
    client.release()
  }
  const waiting = async () =>
    (await admin.query(`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).rows.map(
      ({ pid }) => pid,
    )
  const count = async () => (await admin.query('SELECT count(*)::int AS n FROM t')).rows[0].n
  const patience = { signal: new AbortController().signal, leftMs: () => LIMIT_MS }
  const insert = () =>
    inPipelinedTransaction(pool, {
      patience,
      reads: () => [],
      work: (client) => client.query('INSERT INTO t VALUES (1)'),
    })
  /** Starts commits until one waits: the server may not have read its settings yet. */
  const insertThatWaits = async (): Promise<{ made: Promise<unknown> }> => {
    const made = insert()
    let isMade = false
    made.finally(() => (isMade = true)).catch(() => {})
    await expect
      .poll(async () => isMade || (await waiting()).length === 1, { timeout: 10_000 })
      .toBe(true)
    return isMade ? insertThatWaits() : { made }
  }

  it('is not ended by a timeout: it would be acknowledged, shown, and lost in a fail-over', async () => {
    const { made } = await insertThatWaits()
    const before = await count()
    await sleep(2 * LIMIT_MS)
    expect([await waiting(), await count()]).toEqual([[expect.any(Number)], before])
    await standby('')
    await made
    expect(await count()).toBe(before + 1)
  })

  it('is not acknowledged where somebody else cancels the wait', async () => {
    const { made } = await insertThatWaits()
    const outage = expectOutage(made)
    await admin.query('SELECT pg_cancel_backend($1)', await waiting())
    await outage
  })
})
