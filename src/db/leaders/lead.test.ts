import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { useServer } from '../../../test/support/database.js'
import { startMigrated } from '../../../test/support/migrated.js'
import { startTcpProxy, type TcpProxy } from '../../../test/support/tcpProxy.js'
import { WorkerLoops } from '../../ops/loops.js'
import { assertIndexingLeader } from '../journal/head.js'
import { createListener, notifyNetwork } from '../pg/notify.js'
import { createPool, FROZEN_CLIENT_MS, inTransaction } from '../pg/pool.js'
import { query } from '../pg/rows.js'
import { MAX_CLOCK_SKEW_MS } from '../pg/unavailable.js'
import {
  createLeasePool,
  LEASE_MS,
  LEASE_RENEWAL_INTERVAL_MS,
  STANDBY_POLL_MS,
  takeLeadershipIfFree,
  whileLeading,
} from './lead.js'
import { LEADER_ROLE } from './leaders.js'

const YEAR_MS = 365 * 86_400_000
/** Additional time for a busy machine. */
const MARGIN_MS = 3_000

const server = useServer(startMigrated)
let proxy: TcpProxy
let leases: pg.Pool

beforeAll(() => {
  leases = createLeasePool(server.url)
})
beforeEach(async () => {
  proxy = await startTcpProxy(server)
})
afterEach(() => proxy.stop())
afterAll(() => leases?.end())

/** The server's URL through the proxy. */
function throughProxy(): string {
  const url = new URL(server.url)
  url.port = String(proxy.port)
  return url.href
}

const lead = (pool = leases) => takeLeadershipIfFree(pool, 'mainnet', 'index')

async function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const late = new AbortController()
  const limit = sleep(limitMs + MARGIN_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error(`not within ${limitMs} ms`)
  })
  limit.catch(() => {})
  try {
    return await Promise.race([work, limit])
  } finally {
    late.abort()
  }
}

/** Tries until it leads. */
async function leadNext() {
  for (;;) {
    const next = await lead()
    if (next) return next
    await sleep(50)
  }
}

it.each(['hold', 'forget', 'cut'] as const)(
  'a leader that can’t renew its lease notices, and another process leads: %s',
  async (fault) => {
    const behindProxy = createLeasePool(throughProxy())
    const first = (await lead(behindProxy))!
    expect(await lead()).toBeNull()
    proxy[fault]()
    if (fault === 'forget') proxy.hold()
    const startedMs = performance.now()
    const second = await within(leadNext(), LEASE_MS + STANDBY_POLL_MS)
    expect(performance.now() - startedMs).toBeLessThan(5_000)
    await within(first.lost, LEASE_MS)
    expect(second.epoch).toBe(first.epoch + 1)
    await expect(assertIndexingLeader(leases, 'mainnet', first.epoch)).rejects.toThrow(
      'another process leads',
    )
    proxy.restore()
    await first.release()
    expect(await lead()).toBeNull()
    await second.release()
    await behindProxy.end()
  },
)

it('a lead outlasts a broken connection and its leader’s transactions', async () => {
  const behindProxy = createLeasePool(throughProxy())
  const leader = (await lead(behindProxy))!
  let isLost = false
  void leader.lost.then(() => (isLost = true))
  await inTransaction(leases, async (client) => {
    await assertIndexingLeader(client, 'mainnet', leader.epoch)
    proxy.forget()
    await sleep(LEASE_MS + LEASE_RENEWAL_INTERVAL_MS)
  })
  expect([isLost, await lead()]).toEqual([false, null])
  await leader.release()
  await behindProxy.end()
})

it('a writer that froze in a transaction loses its locks', async () => {
  const pool = createPool({
    url: server.url,
    max: 2,
    applicationName: 'clusterd write',
    idleTransactionMs: FROZEN_CLIENT_MS,
  })
  let isHeld = () => {}
  const holding = new Promise<void>((resolve) => {
    isHeld = resolve
  })
  const frozen = inTransaction(pool, async (client) => {
    await client.query('SELECT FROM journal_heads FOR UPDATE')
    isHeld()
    await sleep(2 * FROZEN_CLIENT_MS)
    await client.query('SELECT 1')
  })
  frozen.catch(() => {})
  await holding
  const patient = createPool({ url: server.url, max: 1, applicationName: 'test' })
  await within(patient.query('SELECT FROM journal_heads FOR UPDATE'), FROZEN_CLIENT_MS)
  await expect(frozen).rejects.toThrow()
  await Promise.all([pool.end(), patient.end()])
})

it('a leader ends a writer of any role that froze while it sent a statement with the epoch’s row locked', async () => {
  const frozen = (await lead())!
  await leases.query(
    'CREATE ROLE clusterd_api LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO clusterd_api',
  )
  const connectionString = Object.assign(new URL(server.url), { username: 'clusterd_api' }).href
  const writer = new pg.Client({ connectionString, application_name: 'clusterd read 1' })
  const ended = new Promise<void>((resolve) => writer.on('error', () => resolve()))
  await writer.connect()
  await writer.query('BEGIN')
  await assertIndexingLeader(writer, 'mainnet', frozen.epoch)
  const copy = finished(writer.query(copyFrom('COPY deployment FROM STDIN')))
  copy.catch(() => {})
  await within(ended, FROZEN_CLIENT_MS + 2 * LEASE_RENEWAL_INTERVAL_MS)
  await expect(copy).rejects.toThrow()
  await frozen.release()
})

it.each([-YEAR_MS, 2 * MAX_CLOCK_SKEW_MS])(
  'a process whose clock is off by %d ms does not take the lead, and loses the one that it has',
  async (skewMs) => {
    const now = Date.now
    const clock = vi.spyOn(Date, 'now')
    try {
      clock.mockImplementation(() => now() + skewMs)
      await expect(lead()).rejects.toThrow('the clocks of this host and of the database differ by')
      clock.mockImplementation(now)
      const leader = (await lead())!
      clock.mockImplementation(() => now() + skewMs)
      await within(leader.lost, 2 * LEASE_RENEWAL_INTERVAL_MS)
      await leader.release()
    } finally {
      clock.mockRestore()
    }
  },
)

it('a listener whose connection falls silent listens on a new connection', async () => {
  const stop = new AbortController()
  const heard: string[] = []
  const order: string[] = []
  const loops = new WorkerLoops()
  const listener = createListener({
    url: throughProxy(),
    signal: stop.signal,
    loops,
    onError: () => setTimeout(() => order.push('after a while'), 400),
    onRenewed: () => order.push('renewed'),
  })
  listener.subscribe((payload) => heard.push(payload))
  await expect.poll(() => heard, { timeout: MARGIN_MS }).toEqual([''])
  proxy.forget()
  await expect.poll(() => heard, { timeout: 5_000 + MARGIN_MS }).toEqual(['', ''])
  // the connection was silent for seconds: the next attempt does not wait too
  await expect.poll(() => order).toEqual(['renewed', 'after a while'])
  expect(loops.states()).toMatchObject([{ name: 'the listener' }])
  const pool = createPool({ url: server.url, max: 1, applicationName: 'test' })
  await notifyNetwork(pool, 'mainnet')
  await expect.poll(() => heard, { timeout: MARGIN_MS }).toEqual(['', '', 'mainnet'])
  stop.abort()
  await listener.done
  expect(loops.states()).toEqual([])
  await pool.end()
})

it('a stop that interrupts the leader’s work is not a failure', async () => {
  const stop = new AbortController()
  const { signal } = stop
  const errors: Error[] = []
  const loops = new WorkerLoops()
  const listener = createListener({ url: server.url, signal, loops, onError: () => {} })
  const onError = (error: Error) => void errors.push(error)
  let isLeading = false
  const leading = whileLeading(
    {
      leases,
      listener,
      network: 'mainnet',
      role: 'index',
      signal,
      loops,
      log: pino({ level: 'silent' }),
      onError,
    },
    async (_, stopped) => {
      isLeading = true
      await sleep(60_000, undefined, { signal: stopped })
    },
  )
  await expect.poll(() => isLeading, { timeout: MARGIN_MS }).toBe(true)
  stop.abort()
  await leading
  expect(errors).toEqual([])
})

it('a standby logs once that it stands by, and again after it has led', async () => {
  const first = await takeLeadershipIfFree(leases, 'testnet', 'index')
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const stop = new AbortController()
  const { signal } = stop
  const loops = new WorkerLoops()
  const onError = () => {}
  const listener = createListener({ url: server.url, signal, loops, onError })
  let leads = 0
  const leading = whileLeading(
    { leases, listener, network: 'testnet', role: 'index', signal, loops, log, onError },
    (_, stopped) => {
      leads += 1
      return new Promise((resolve) => stopped.addEventListener('abort', () => resolve()))
    },
  )
  const said = () => lines.map((line) => JSON.parse(line) as { msg: string })
  const line = { msg: 'standing by: another process leads', network: 'testnet', role: 'index' }
  await expect.poll(said, { timeout: MARGIN_MS }).toMatchObject([line])
  await sleep(3 * STANDBY_POLL_MS)
  expect(said()).toHaveLength(1)

  await first!.release()
  await expect.poll(() => leads, { timeout: LEASE_MS + MARGIN_MS }).toBe(1)
  // another process takes the lease
  const set = (untilMs: string) =>
    query(
      leases,
      'testnet',
      `UPDATE leaders SET epoch = epoch + 1, until_ms = ${untilMs} WHERE network = $1 AND role = $2`,
      [LEADER_ROLE.index],
    )
  await set('until_ms + 60000')
  await expect.poll(said, { timeout: LEASE_MS + MARGIN_MS }).toMatchObject([line, line])
  stop.abort()
  await leading
  await set('0')
})
