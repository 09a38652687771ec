import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startPostgres } from '../../testing/processes/postgres.js'
import { createPool, inTransaction } from './pool.js'
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
