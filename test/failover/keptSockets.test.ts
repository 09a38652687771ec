import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import type { Postgres } from '../../src/testing/processes/postgres.js'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { queryOn } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { startHubWorld } from '../support/hubWorld.js'
import { startReplica } from '../support/replica.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { useWorld } from '../support/useWorld.js'

/**
 * A fail-over in which the old primary goes on to run, takes no writes any more, and keeps its connections. A proxy leads
 * only new connections to the new primary.
 */

const DEADLINE = { timeout: 30_000, interval: 100 }
/** Bids after the fail-over, one after the other. */
const BIDS = 5

const home = useFolder()
const world = useWorld(() => startHubWorld())
const standby = useWorld(() => startReplica(world.postgres, join(home, 'standby')))
const consumed: { name: string; atMs: number }[] = []
const reading = new AbortController()
let target: { port: number }
let proxy: TcpProxy
let daemon: TestDaemon
let consuming: Promise<void>

beforeAll(async () => {
  target = { port: world.postgres.port }
  proxy = await startTcpProxy(target)
  const url = Object.assign(new URL(world.postgres.url), { port: String(proxy.port) }).href
  daemon = await startTestDaemon(
    url,
    { chains: [{ ...world.section, pollMs: 50 }] },
    { ROLES: 'api,index' },
  )
  consuming = consume()
})
afterAll(async () => {
  reading.abort()
  await consuming
  await daemon?.stop()
  await proxy?.stop()
})

async function consume(): Promise<void> {
  const events = new Client({ url: daemon.api }).events({ signal: reading.signal })
  for await (const event of events)
    if (event.type === 'REGISTER_NAME')
      consumed.push({ name: event.data.name, atMs: performance.now() })
}

/** Registers a name. @returns ms until its event arrived, after the block that confirms it */
async function registerAndWait(): Promise<number> {
  const name = `kept-${consumed.length}`
  await world.bid(0, [name])
  await world.test.mine({ blocks: 3 })
  const startedMs = performance.now()
  await expect.poll(() => consumed.map((event) => event.name), DEADLINE).toContain(name)
  return consumed.find((event) => event.name === name)!.atMs - startedMs
}

/** Names of the daemon's connections to a server. */
const sessionsOn = async ({ url }: Pick<Postgres, 'url'>): Promise<string[]> => {
  const sql = `SELECT application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'clusterd %'`
  return (await queryOn<{ name: string }>(url, sql)).map(({ name }) => name)
}

const positionOf = async ({ url }: Pick<Postgres, 'url'>, sql: string): Promise<string> =>
  (await queryOn<{ at: string }>(url, `SELECT (${sql})::text AS at`))[0]!.at

async function failOver(): Promise<void> {
  await queryOn(world.postgres.url, 'ALTER SYSTEM SET default_transaction_read_only = on')
  await queryOn(world.postgres.url, 'SELECT pg_reload_conf()')
  await sleep(200)
  const written = await positionOf(world.postgres, 'pg_current_wal_lsn()')
  await expect
    .poll(() => positionOf(standby, `pg_last_wal_replay_lsn() >= '${written}'`), DEADLINE)
    .toBe('true')
  await queryOn(standby.url, 'SELECT pg_promote()')
  target.port = standby.port
}

it('every connection goes over to the new primary, and the feed’s events come at once', async () => {
  const beforeMs = await registerAndWait()
  expect(await sessionsOn(world.postgres)).toContain('clusterd listener')
  await failOver()
  await expect.poll(() => sessionsOn(standby), DEADLINE).toContain('clusterd listener')
  await expect.poll(() => sessionsOn(world.postgres), DEADLINE).toEqual([])
  const afterMs: number[] = []
  for (let i = 0; i < BIDS; i++) afterMs.push(await registerAndWait())
  console.log(
    `an event comes after ${Math.round(beforeMs)} ms, after the fail-over ${afterMs.map(Math.round).join(', ')} ms`,
  )
  expect((await daemon.status()).problems).toEqual([])
})
