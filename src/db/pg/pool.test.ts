import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTcpProxy } from '../../testing/faultProxy/tcpProxy.js'
import { type Postgres, startPostgres } from '../../testing/processes/postgres.js'
import { pipelined } from './pipeline.js'
import { createPool, dropConnections, inTransaction } from './pool.js'
import { isDatabaseUnavailable } from './unavailable.js'

it('a connection that breaks while its transaction waits for something else fails the transaction, nothing more', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-pool-'))
  const server = await startPostgres({ dataDir: path.join(home, 'pg') })
  const pool = createPool({ url: server.url, max: 2, applicationName: 'test' })
  try {
    const transaction = inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      await pool.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid])
      // no query is under way, so only the event reports it
      await sleep(200)
      await client.query('SELECT 1')
    })
    await expect(transaction).rejects.toThrow()
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  } finally {
    await pool.end()
    await server.stop()
    fs.rmSync(home, { recursive: true, force: true })
  }
})

it('a database that takes no connections by its own name is an outage', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-closed-'))
  const server = await startPostgres({ dataDir: path.join(home, 'pg') })
  const admin = createPool({ url: server.url, max: 1, applicationName: 'test' })
  const closed = new URL(server.url)
  closed.pathname = '/closed'
  const pool = createPool({ url: closed.href, max: 1, applicationName: 'test' })
  try {
    await admin.query('CREATE DATABASE closed ALLOW_CONNECTIONS false')
    const error = await pool.query('SELECT 1').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: '55000' })
    expect(isDatabaseUnavailable(error)).toBe(true)
  } finally {
    await Promise.all([pool.end(), admin.end()])
    await server.stop()
    fs.rmSync(home, { recursive: true, force: true })
  }
})

describe('a commit that waits for a standby', () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-commit-'))
  const LIMIT_MS = 500
  let server: Postgres
  let admin: pg.Pool
  let pool: pg.Pool
  beforeAll(async () => {
    server = await startPostgres({ dataDir: path.join(home, 'pg') })
    admin = createPool({ url: server.url, max: 2, applicationName: 'test' })
    await admin.query('CREATE TABLE t (x int)')
    pool = createPool({ url: server.url, max: 1, applicationName: 'test', statementTimeoutMs: LIMIT_MS })
    await standby('nobody')
  })
  afterAll(async () => {
    await standby('')
    await Promise.all([pool.end(), admin.end()])
    await server.stop()
    fs.rmSync(home, { recursive: true, force: true })
  })
  const standby = async (name: string) => {
    const client = await admin.connect()
    await client.query('SET synchronous_commit = local')
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await client.query('SELECT pg_reload_conf()')
    client.release()
  }
  const waiting = async () =>
    (await admin.query(`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).rows.map(({ pid }) => pid)
  const count = async () => (await admin.query('SELECT count(*)::int AS n FROM t')).rows[0].n
  const patience = { signal: new AbortController().signal, leftMs: () => LIMIT_MS }
  const insert = () => inTransaction(pool, (client) => client.query('INSERT INTO t VALUES (1)'), patience)
  /** Begins commits until one waits: the server may not have read its settings yet. */
  const insertThatWaits = async (): Promise<{ made: Promise<unknown> }> => {
    const made = insert()
    let isMade = false
    made.finally(() => (isMade = true)).catch(() => {})
    await expect.poll(async () => isMade || (await waiting()).length === 1, { timeout: 10_000 }).toBe(true)
    return isMade ? insertThatWaits() : { made }
  }

  it('is not cut short by a time limit: it would be acknowledged, shown, and lost in a fail-over', async () => {
    const { made } = await insertThatWaits()
    const before = await count()
    await sleep(2 * LIMIT_MS)
    expect([await waiting(), await count()]).toEqual([[expect.any(Number)], before])
    await standby('')
    await made
    expect(await count()).toBe(before + 1)
    await standby('nobody')
  })

  it('is not acknowledged where somebody else cuts it short', async () => {
    const { made } = await insertThatWaits()
    const ended = made.catch((error: unknown) => error)
    await admin.query('SELECT pg_cancel_backend($1)', await waiting())
    const error = await ended
    expect(error).toBeInstanceOf(Error)
    expect(isDatabaseUnavailable(error)).toBe(true)
  })
})

it('a connection on which nothing may be written is dropped: a new one may lead to the primary', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-standby-'))
  const server = await startPostgres({ dataDir: path.join(home, 'pg') })
  const pool = createPool({ url: server.url, max: 1, applicationName: 'test' })
  try {
    await pool.query('CREATE TABLE t (x int)')
    await pool.query('SET default_transaction_read_only = on')
    const insert = () => inTransaction(pool, (client) => client.query('INSERT INTO t VALUES (1)'))
    const error = await insert().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: '25006' })
    expect(isDatabaseUnavailable(error)).toBe(true)
    await insert()
  } finally {
    await pool.end()
    await server.stop()
    fs.rmSync(home, { recursive: true, force: true })
  }
})

it('the end of a transaction in which this process stalled is an outage', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-stall-'))
  const server = await startPostgres({ dataDir: path.join(home, 'pg') })
  const pool = createPool({ url: server.url, max: 1, applicationName: 'test', idleTransactionMs: 200 })
  try {
    const stalled = inTransaction(pool, async (client) => {
      await client.query('SELECT 1')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
      await client.query('SELECT 1')
    })
    const error = await stalled.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: '25P03' })
    expect(isDatabaseUnavailable(error)).toBe(true)
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  } finally {
    await pool.end()
    await server.stop()
    fs.rmSync(home, { recursive: true, force: true })
  }
})

it('connections that are dropped fail what waits on them, and new ones take their place', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-drop-'))
  const server = await startPostgres({ dataDir: path.join(home, 'pg') })
  const proxy = await startTcpProxy(server)
  const url = Object.assign(new URL(server.url), { port: String(proxy.port) }).href
  const pool = createPool({ url, max: 3, applicationName: 'test' })
  try {
    // two are idle
    await Promise.all([1, 2, 3].map(() => pool.query('SELECT pg_sleep(0.1)')))
    const transaction = inTransaction(pool, async (client) => {
      await client.query('CREATE TABLE held (id int)')
      proxy.forget()
      setTimeout(() => dropConnections(pool), 100)
      await pipelined(client, (db) => [db.query('INSERT INTO held VALUES (1)')])
    })
    const error = await transaction.catch((thrown: unknown) => thrown)
    expect(isDatabaseUnavailable(error)).toBe(true)
    await expect.poll(() => pool.totalCount).toBe(0)
    const held = await Promise.all([1, 2, 3].map(() => pool.query(`SELECT to_regclass('held') AS held`)))
    expect(held.map(({ rows }) => rows)).toEqual([1, 2, 3].map(() => [{ held: null }]))
  } finally {
    await pool.end()
    await proxy.stop()
    await server.stop()
    fs.rmSync(home, { recursive: true, force: true })
  }
})
