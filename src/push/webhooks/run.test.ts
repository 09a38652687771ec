import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { useDatabase } from '../../../test/storage/database.js'
import { addWebhook, listWebhooks } from '../../db/outbox/webhooks.js'
import { Loops } from '../../ops/loops.js'
import { createWebhookMetrics } from './metrics.js'
import { runWebhooks } from './run.js'

const DAY_MS = 86_400_000
const database = useDatabase()
let pool: pg.Pool
let receiver: Server
/** In place of a status: the receiver says nothing. */
const SILENT = 0
let status = 503
let asked = 0

beforeAll(async () => {
  pool = database.pool
  receiver = createServer((_request, response) => {
    asked += 1
    if (status !== SILENT) response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  vi.restoreAllMocks()
  receiver.close()
})

/** Runs the webhooks of a process for a while. */
async function run(until: () => boolean | Promise<boolean>, timeout: number): Promise<void> {
  const stop = new AbortController()
  const { done } = runWebhooks({
    ...{ pool, allowsPrivate: true, signal: stop.signal, loops: new Loops(), log: pino({ level: 'silent' }) },
    metrics: createWebhookMetrics(new Registry()),
    readFeed: async () => ({ generation: 1, items: ['{}'], last: 1, hasMore: false, resume: 'next' }),
  })
  try {
    await expect.poll(until, { timeout, interval: 50 }).toBe(true)
  } finally {
    stop.abort()
    await done
  }
}

it('what a process with a wrong clock has put off does not wait for its time', async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await pool.query('UPDATE journal_heads SET public_seq = 1, feed_generation = 1')
  await addWebhook(pool, { network: 'mainnet', url, key: Buffer.alloc(32, 1), from: null, cursor: null, createdMs: 0 })
  const real = Date.now.bind(Date)
  const now = vi.spyOn(Date, 'now').mockImplementation(() => real() + DAY_MS)
  await run(() => asked > 0, 3_000).catch(() => {})
  now.mockRestore()
  status = 200
  await run(async () => (await listWebhooks(pool))[0]!.delivered === 1, 10_000)
})

it('what a process had under way at its stop goes out at once from the next', async () => {
  status = SILENT
  await pool.query('UPDATE journal_heads SET public_seq = public_seq + 1')
  const before = asked
  await run(() => asked > before, 10_000)
  status = 200
  await run(async () => (await listWebhooks(pool))[0]!.delivered === 2, 8_000)
})
