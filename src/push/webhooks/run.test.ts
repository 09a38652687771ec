import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import {
  addWebhook,
  addWebhookFailure,
  leaseWebhooks,
  listWebhooks,
  saveWebhook,
} from '../../db/webhooks/webhooks.js'
import { WorkerLoops } from '../../ops/loops.js'
import { deliverNextMessage, type FeedPage, type WEBHOOK_MESSAGE_TYPES } from './deliver.js'
import { runWebhooks } from './run.js'

const DAY_MS = 86_400_000
const database = useDatabase()
let pool: pg.Pool
let receiver: Server
/** Stands in the list of statuses for a receiver that does not answer. */
const SILENT = 0
let status = 503
let asked = 0
/** Body of the newest message. */
let received = ''

beforeAll(async () => {
  pool = database.pool
  receiver = createServer(async (request, response) => {
    asked += 1
    received = await text(request)
    if (status !== SILENT) response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  vi.restoreAllMocks()
  receiver.close()
})

const PAGE: FeedPage = { generation: 1, items: ['{}'], last: 1, hasMore: false, resume: 'next' }
const readFeed = async () => PAGE

/** Runs the webhooks of a process until a condition holds. */
async function run(
  until: () => boolean | Promise<boolean>,
  timeout: number,
  page = PAGE,
): Promise<void> {
  const stop = new AbortController()
  const { done } = runWebhooks({
    pool,
    allowsPrivate: true,
    signal: stop.signal,
    loops: new WorkerLoops(),
    log: pino({ level: 'silent' }),
    readFeed: async () => page,
  })
  try {
    await expect.poll(until, { timeout, interval: 50 }).toBe(true)
  } finally {
    stop.abort()
    await done
  }
}

it('a retry that a process with a wrong clock postponed does not wait for that time', async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await pool.query('UPDATE journal_heads SET public_seq = 1, feed_generation = 1')
  await addWebhook(pool, {
    network: 'mainnet',
    url,
    key: Buffer.alloc(32, 1),
    from: null,
    cursor: null,
    createdMs: 0,
  })
  const real = Date.now.bind(Date)
  const now = vi.spyOn(Date, 'now').mockImplementation(() => real() + DAY_MS)
  await run(() => asked > 0, 3_000).catch(() => {})
  now.mockRestore()
  status = 200
  await run(async () => (await listWebhooks(pool))[0]!.delivered === 1, 10_000)
})

it('a retry and a lease by a clock that was set back do not delay the delivery', async () => {
  for (const [i, column] of ['next_ms', 'lease_ms'].entries()) {
    await pool.query('UPDATE journal_heads SET public_seq = public_seq + 1')
    await pool.query(`UPDATE webhooks SET ${column} = $1`, [Date.now() + DAY_MS])
    await run(async () => (await listWebhooks(pool))[0]!.delivered === 2 + i, 5_000)
  }
})

it('a delivery that a process stopped is sent at once by the next process', async () => {
  status = SILENT
  await pool.query('UPDATE journal_heads SET public_seq = public_seq + 1')
  const before = asked
  await run(() => asked > before, 10_000)
  status = 200
  await run(async () => (await listWebhooks(pool))[0]!.delivered === 4, 8_000)
})

/** For each type of message, a page of the feed after which it is sent, and its fields. */
const MESSAGES: Record<
  (typeof WEBHOOK_MESSAGE_TYPES)[number],
  { page: FeedPage | null; fields: Record<string, unknown> }
> = {
  events: { page: PAGE, fields: { items: [{}], resume: 'next' } },
  feed_restarted: { page: null, fields: { generation: 2 } },
}

it.each(Object.entries(MESSAGES))(
  'a receiver gets a message of the type %s',
  async (type, { page, fields }) => {
    status = 200
    const [stored] = await listWebhooks(pool)
    const hook = { ...stored!, leaseMs: 0, headGeneration: 2, headSeen: 1 }
    const { signal } = new AbortController()
    const ports = { readFeed: async () => page, allowsPrivate: true, nowMs: Date.now, signal }
    expect(await deliverNextMessage(hook, ports)).not.toHaveProperty('failure')
    const { id, network } = hook
    expect(JSON.parse(received)).toEqual({ type, webhook: id, network, ...fields })
  },
)

it('a webhook that fails for more than five days is parked, and not before', async () => {
  status = 503
  const [stored] = await listWebhooks(pool)
  const nowMs = 10 * DAY_MS
  const { signal } = new AbortController()
  const failingFor = (ms: number) => {
    const hook = {
      ...stored!,
      failures: 9,
      failingMs: nowMs - ms,
      leaseMs: 0,
      headGeneration: 1,
      headSeen: 1,
    }
    return deliverNextMessage(hook, { readFeed, allowsPrivate: true, nowMs: () => nowMs, signal })
  }
  const after = { parked: null, failures: 10, nextMs: nowMs + 3_600_000, cursor: stored!.cursor }
  expect(await failingFor(5 * DAY_MS)).toMatchObject({ after, failure: { reason: 'HTTP 503' } })
  expect(await failingFor(5 * DAY_MS + 1)).toMatchObject({ after: { parked: 'HTTP 503' } })
})

it('a feed that restarts between the reads of its head and its page is read again', async () => {
  status = 200
  const [stored] = await listWebhooks(pool)
  const hook = { ...stored!, leaseMs: 0, headGeneration: 1, headSeen: 5 }
  const { signal } = new AbortController()
  const deliveredOf = async (generation: number) => {
    const ports = {
      readFeed: async () => ({ ...(await readFeed()), generation }),
      allowsPrivate: true,
    }
    return deliverNextMessage(hook, { ...ports, nowMs: Date.now, signal })
  }
  expect(await deliveredOf(1)).toMatchObject({
    after: { generation: 1, seen: 5, delivered: hook.delivered + 1 },
  })
  expect(await deliveredOf(2)).toMatchObject({ after: { generation: 2, seen: 0 } })
})

it('a process whose lease has expired overwrites nothing of the next process', async () => {
  await pool.query('UPDATE webhooks SET seen = 0, next_ms = 0, lease_ms = 0')
  const nowMs = Date.now()
  const lease = async (atMs: number, leaseMs: number) =>
    (await leaseWebhooks(pool, { atMost: 1, nowMs: atMs, leaseMs }))[0]
  const first = (await lease(nowMs, nowMs + 1))!
  expect(await lease(nowMs, nowMs + 9)).toBeUndefined()
  const second = (await lease(nowMs + 1, nowMs + 9))!
  expect(await saveWebhook(pool, first, { ...first, cursor: 'old' })).toBe(false)
  expect(await saveWebhook(pool, second, { ...second, cursor: 'new' })).toBe(true)
  expect((await listWebhooks(pool))[0]!.cursor).toBe('new')
})

it('the newest hundred failed deliveries are kept', async () => {
  const webhook = (await listWebhooks(pool))[0]!.id
  for (let n = 1; n <= 103; n++)
    await addWebhookFailure(pool, {
      webhook,
      atMs: Date.now() + n,
      message: 'm',
      cursor: null,
      reason: 'r',
    })
  expect((await pool.query('SELECT FROM webhook_failures')).rowCount).toBe(100)
})

/** Replaces all webhooks by new ones of one receiver. */
async function replaceWebhooks(count: number, url: string): Promise<void> {
  await pool.query('DELETE FROM webhooks')
  for (let n = 0; n < count; n++)
    await addWebhook(pool, {
      network: 'mainnet',
      url,
      key: Buffer.alloc(32, 1),
      from: null,
      cursor: null,
      createdMs: 0,
    })
}

it('eight of many webhooks are delivered at a time, and none waits for all others', async () => {
  let open = 0
  let most = 0
  const slow = createServer((_request, response) => {
    open += 1
    most = Math.max(most, open)
    setTimeout(() => {
      open -= 1
      response.writeHead(200).end()
    }, 100)
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`
  await replaceWebhooks(20, url)
  await run(async () => (await listWebhooks(pool)).every(({ delivered }) => delivered > 0), 10_000)
  slow.close()
  expect(most).toBe(8)
})

it('webhooks that always have more are leased in turn', async () => {
  await replaceWebhooks(5, 'http://127.0.0.1/')
  const leased: number[] = []
  for (let turn = 0; turn < 20; turn++) {
    const nowMs = Date.now() + turn
    const [hook] = await leaseWebhooks(pool, { atMost: 1, nowMs, leaseMs: nowMs + 9_000 })
    leased.push(hook!.id)
    await saveWebhook(pool, hook!, hook!)
  }
  const round = leased.slice(0, 5)
  expect(new Set(round).size).toBe(5)
  expect(leased).toEqual([round, round, round, round].flat())
})

it('a webhook waits for no others that have more events than their receivers take', async () => {
  await replaceWebhooks(9, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
  status = 200
  const isDelivered = async () => (await listWebhooks(pool)).every(({ delivered }) => delivered > 0)
  await run(isDelivered, 10_000, { ...PAGE, hasMore: true })
})
