import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../testing/faultProxy/tcpProxy.js'
import { type Postgres, startPostgres } from '../../testing/processes/postgres.js'
import { createPool, inTransaction, type PoolOptions } from './pool.js'
import { SUSPECT_MS } from './silence.js'
import { isDatabaseUnavailable } from './unavailable.js'

/** Within which what fell silent has to be given up: the suspicion, the question, and a busy machine. */
const GIVEN_UP_MS = 5_000
const CONNECTIONS = 4
/** Time that a question to the server takes where it is slow, seconds. */
const PROBE_S = 0.3

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-silence-'))
let server: Postgres
let proxy: TcpProxy
const pools: pg.Pool[] = []

beforeAll(async () => {
  server = await startPostgres({ dataDir: path.join(home, 'pg') })
})
beforeEach(async () => {
  proxy = await startTcpProxy(server)
})
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()))
  await proxy.stop()
})
afterAll(async () => {
  await server?.stop()
  fs.rmSync(home, { recursive: true, force: true })
})

function poolOf(options: Partial<PoolOptions> = {}): pg.Pool {
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const pool = createPool({ url: url.href, max: CONNECTIONS, applicationName: 'test', ...options })
  pools.push(pool)
  return pool
}

/** Opens all connections of the pool. */
async function fill(pool: pg.Pool): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('SELECT pg_sleep(0.1)')))
  expect(pool.idleCount).toBe(CONNECTIONS)
}

async function failureOf(work: Promise<unknown>): Promise<{ error: unknown; ms: number }> {
  const startedMs = performance.now()
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return { error, ms: performance.now() - startedMs }
}

it('gives up connections that fell silent while new ones answer, the idle ones with those in use', async () => {
  const pool = poolOf()
  await fill(pool)
  proxy.forget()
  const { error, ms } = await failureOf(pool.query('SELECT 1'))
  expect(isDatabaseUnavailable(error)).toBe(true)
  expect(ms).toBeLessThan(GIVEN_UP_MS)
  // none of the others is lent any more
  const answers = Array.from({ length: CONNECTIONS }, () => pool.query('SELECT 1 AS one'))
  for (const { rows } of await Promise.all(answers)) expect(rows).toEqual([{ one: 1 }])
})

it('gives up a connection that fell silent while the pool has others at work', async () => {
  const pool = poolOf()
  await fill(pool)
  proxy.forget()
  const forgotten = failureOf(pool.query('SELECT 1'))
  await Promise.all(
    // the pool lends what is left of the forgotten ones first
    Array.from({ length: CONNECTIONS - 1 }, () => pool.connect().then((client) => client.release(true))),
  )
  const work = pool.query(`SELECT pg_sleep(${(1.5 * GIVEN_UP_MS) / 1_000})`)
  const { error, ms } = await forgotten
  expect(isDatabaseUnavailable(error)).toBe(true)
  expect(ms).toBeLessThan(GIVEN_UP_MS)
  await work
})

it('gives up a transaction whose connection fell silent', async () => {
  const pool = poolOf()
  const work = inTransaction(pool, async (client) => {
    await client.query('CREATE TABLE held (id int)')
    proxy.forget()
    await client.query('INSERT INTO held VALUES (1)')
  })
  const { error, ms } = await failureOf(work)
  expect(isDatabaseUnavailable(error)).toBe(true)
  expect(ms).toBeLessThan(GIVEN_UP_MS)
  expect((await pool.query(`SELECT to_regclass('held') AS held`)).rows).toEqual([{ held: null }])
})

it('leaves alone a statement that is slow', async () => {
  const pool = poolOf()
  const { rows } = await pool.query(`SELECT 1 AS one FROM pg_sleep(${(2 * SUSPECT_MS) / 1_000})`)
  expect(rows).toEqual([{ one: 1 }])
})

it('leaves alone a connection that is answered while the server is asked about it', async () => {
  const pool = poolOf({ max: 1 })
  await pool.query(`CREATE OR REPLACE FUNCTION slow_probe() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('application_name') = 'clusterd probe' THEN PERFORM pg_sleep(${PROBE_S}); END IF; END $$`)
  await pool.query('CREATE EVENT TRIGGER slow_probe ON login EXECUTE FUNCTION slow_probe()')
  try {
    const fresh = poolOf({ max: 1 })
    const work = inTransaction(fresh, async (client) => {
      // ends after the question was put, and before it is answered: the look of the next half second would tell
      await client.query(`SELECT pg_sleep(${(SUSPECT_MS + 500) / 1_000 + PROBE_S / 2})`)
      await new Promise((resolve) => setTimeout(resolve, 1_000 * PROBE_S))
      return (await client.query('SELECT 1 AS one')).rows
    })
    expect(await work).toEqual([{ one: 1 }])
  } finally {
    await pool.query('DROP EVENT TRIGGER slow_probe')
  }
})

it('gives up after the time limit where no connection is answered', async () => {
  const pool = poolOf({ silenceLimitMs: 2 * SUSPECT_MS })
  await pool.query('SELECT 1')
  proxy.hold()
  const { error, ms } = await failureOf(pool.query('SELECT 1'))
  expect(isDatabaseUnavailable(error)).toBe(true)
  expect(ms).toBeGreaterThan(SUSPECT_MS)
  proxy.restore()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

it('ends though its connections have fallen silent', async () => {
  const pool = poolOf()
  await fill(pool)
  proxy.forget()
  await pools.pop()!.end()
  expect(pool.totalCount).toBe(0)
})
