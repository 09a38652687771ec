import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { startMigrated } from '../../../test/support/migrated.js'
import { Loops } from '../../ops/loops.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { startTcpProxy, type TcpProxy } from '../../testing/faultProxy/tcpProxy.js'
import type { Postgres } from '../../testing/processes/postgres.js'
import type { LeaderRole } from './codes.js'
import { CopyBuffer, startCopy } from './copy.js'
import { tryLead, whileLeading } from './leader.js'
import { Listener, LOOK_MS, notify } from './notify.js'
import { createPool, inTransaction } from './pool.js'
import { ANSWER_LIMIT_MS, BEAT_MS, FROZEN_MS } from './session.js'
import { MAX_SKEW_MS } from './unavailable.js'

const YEAR_MS = 365 * 86_400_000
/** For a busy machine. */
const MARGIN_MS = 3_000

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-leader-'))
let server: Postgres
let proxy: TcpProxy

beforeAll(async () => {
  server = await startMigrated(path.join(home, 'pg'))
})
beforeEach(async () => {
  proxy = await startTcpProxy(server)
})
afterEach(() => proxy.stop())
afterAll(async () => {
  await server?.stop()
  fs.rmSync(home, { recursive: true, force: true })
})

/** The server's URL through the proxy. */
function throughProxy(): string {
  const url = new URL(server.url)
  url.port = String(proxy.port)
  return url.href
}

const LEADS = NETWORKS.flatMap((network) => (['index', 'relay'] as const).map((role) => [network, role] as const))

const lead = (url = server.url) => tryLead(url, 'mainnet', 'index')

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

/** Leads as soon as nobody else does. */
async function leadNext() {
  for (;;) {
    const next = await lead()
    if (next) return next
    await sleep(50)
  }
}

it('a leader whose connection falls silent knows it, and another one leads', async () => {
  const first = (await lead(throughProxy()))!
  expect(await lead()).toBeNull()
  proxy.forget()
  const next = leadNext()
  await within(first.lost, BEAT_MS + ANSWER_LIMIT_MS)
  const second = await within(next, FROZEN_MS)
  expect(second.epoch).toBe(first.epoch + 1)
  await first.release()
  await second.release()
})

it('a writer that froze in a transaction loses what it locked', async () => {
  const pool = createPool({ url: server.url, max: 2, applicationName: 'clusterd write', idleTransactionMs: FROZEN_MS })
  let isHeld = () => {}
  const holding = new Promise<void>((resolve) => {
    isHeld = resolve
  })
  const frozen = inTransaction(pool, async (client) => {
    await client.query('SELECT FROM journal_heads FOR UPDATE')
    isHeld()
    await sleep(2 * FROZEN_MS)
    await client.query('SELECT 1')
  })
  frozen.catch(() => {})
  await holding
  await within(pool.query('SELECT FROM journal_heads FOR UPDATE'), FROZEN_MS)
  await expect(frozen).rejects.toThrow()
  await pool.end()
})

it('a leader ends a writer that froze in a COPY', async () => {
  const leader = (await lead())!
  const writer = new pg.Client({ connectionString: server.url, application_name: 'clusterd read 1' })
  const ended = new Promise<void>((resolve) => writer.on('error', () => resolve()))
  await writer.connect()
  await writer.query('BEGIN')
  await writer.query('SELECT FROM journal_heads FOR UPDATE')
  const copy = startCopy(writer, 'deployment')
  await within(ended, FROZEN_MS + BEAT_MS)
  await expect(copy.end()).rejects.toThrow()
  await leader.release()
})

it('a leader leaves a writer alone whose COPY takes long, and goes on', async () => {
  const leader = (await lead())!
  const writer = new pg.Client({ connectionString: server.url, application_name: 'clusterd write 1' })
  const errors: Error[] = []
  writer.on('error', (error) => errors.push(error))
  await writer.connect()
  await writer.query('CREATE TEMP TABLE slow (n int4)')
  const copy = startCopy(writer, 'slow')
  const rows = new CopyBuffer()
  for (let n = 0; n < 2 * (FROZEN_MS / BEAT_MS); n++) {
    rows.row(1).int4(n)
    await copy.write(rows.take())
    await sleep(BEAT_MS)
  }
  await copy.write(rows.finish())
  await copy.end()
  expect((await writer.query('SELECT FROM slow')).rowCount).toBe(2 * (FROZEN_MS / BEAT_MS))
  expect(errors).toEqual([])
  await writer.end()
  await leader.release()
})

it('stands by for all leads on one connection, and does not hang where a server says nothing', async () => {
  const leader = (await lead())!
  const stop = new AbortController()
  const errors: Error[] = []
  const [{ signal }, loops] = [stop, new Loops()]
  const onError = (error: Error) => errors.push(error)
  const listener = new Listener({ url: throughProxy(), signal, loops, onError: () => {} })
  const standBy = (network: Network, role: LeaderRole) =>
    whileLeading({ listener, network, role, signal, loops, onError }, async () => {})
  const others = await Promise.all(LEADS.slice(1).map(([network, role]) => tryLead(server.url, network, role)))
  const waiting = Promise.all(LEADS.map(([network, role]) => standBy(network, role)))
  await expect.poll(() => proxy.upstreamPorts().size, { timeout: MARGIN_MS }).toBe(1)
  const [port] = proxy.upstreamPorts()
  await sleep(3 * BEAT_MS)
  expect([...proxy.upstreamPorts()]).toEqual([port])
  expect(loops.states().map(({ name, network, failures }) => [name, network, failures])).toEqual([
    ['the listener', undefined, 0],
    ...LEADS.map(([network, role]) => [`the lead (${role})`, network, 0]),
  ])
  proxy.hold()
  const failures = () => Math.min(...loops.states().map(({ failures }) => failures))
  await expect.poll(failures, { timeout: 2 * ANSWER_LIMIT_MS + MARGIN_MS }).toBeGreaterThan(1)
  // what repeats is reported once a minute
  expect(errors).toHaveLength(LEADS.length)
  stop.abort()
  await within(waiting, ANSWER_LIMIT_MS)
  await Promise.all([leader, ...others].map((held) => held!.release()))
})

it('a process whose clock is off does not take the lead, and loses the one that it has', async () => {
  const now = Date.now
  const clock = vi.spyOn(Date, 'now')
  try {
    for (const skewMs of [-YEAR_MS, 2 * MAX_SKEW_MS]) {
      clock.mockImplementation(() => now() + skewMs)
      await expect(lead()).rejects.toThrow('the clocks of this host and of the database differ by')
      clock.mockImplementation(now)
      const leader = (await lead())!
      clock.mockImplementation(() => now() + skewMs)
      await within(leader.lost, 2 * BEAT_MS)
      await leader.release()
    }
  } finally {
    clock.mockRestore()
  }
})

it('a listener whose connection falls silent listens on another one', async () => {
  const stop = new AbortController()
  const heard: string[] = []
  const loops = new Loops()
  const listener = new Listener({ url: throughProxy(), signal: stop.signal, loops, onError: () => {} })
  listener.hear((payload) => heard.push(payload))
  await expect.poll(() => heard, { timeout: MARGIN_MS }).toEqual([''])
  proxy.forget()
  await expect.poll(() => heard, { timeout: BEAT_MS * 2 + ANSWER_LIMIT_MS + MARGIN_MS }).toEqual(['', ''])
  expect(loops.states()).toMatchObject([{ name: 'the listener' }])
  const pool = createPool({ url: server.url, max: 1, applicationName: 'test' })
  await notify(pool, 'mainnet')
  await expect.poll(() => heard, { timeout: MARGIN_MS }).toEqual(['', '', 'mainnet'])
  stop.abort()
  await listener.done
  expect(loops.states()).toEqual([])
  await pool.end()
})

it('who asks for the leads after a while is answered at once, and not in the turn of who stands by', async () => {
  const ended = new AbortController()
  const listener = new Listener({ url: server.url, signal: ended.signal, loops: new Loops(), onError: () => {} })
  const tookMs: number[] = []
  await listener.held()
  for (let i = 0; i < 3; i++) {
    // a look has just been, for nobody
    await sleep(LOOK_MS + 25)
    const startedMs = performance.now()
    await listener.held()
    tookMs.push(performance.now() - startedMs)
  }
  ended.abort()
  await listener.done
  expect(Math.min(...tookMs)).toBeLessThan(LOOK_MS / 2)
})

it('a stop that cuts the work of a lead short is no failure', async () => {
  const stop = new AbortController()
  const { signal } = stop
  const errors: Error[] = []
  const loops = new Loops()
  const listener = new Listener({ url: server.url, signal, loops, onError: () => {} })
  const onError = (error: Error) => void errors.push(error)
  let isLeading = false
  const leading = whileLeading(
    { listener, network: 'mainnet', role: 'index', signal, loops, onError },
    async (_, stopped) => {
      isLeading = true
      await sleep(60_000, undefined, { signal: stopped })
    },
  )
  await expect.poll(() => isLeading, { timeout: ANSWER_LIMIT_MS + MARGIN_MS }).toBe(true)
  stop.abort()
  await leading
  expect(errors).toEqual([])
})
