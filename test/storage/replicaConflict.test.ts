import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChain } from '../../src/db/journal/chains.js'
import { rewind } from '../../src/db/journal/rewind/index.js'
import { createPool } from '../../src/db/pg/pool.js'
import type { Postgres } from '../../src/testing/processes/postgres.js'
import { type ApiWorld, bid, randomAddress, secondApi, startApi } from '../api/support.js'
import { startReplica } from '../support/replica.js'

/** A rewind of the primary while a standby that really streams is read, by the API and by somebody who takes long. */

const DEADLINE = { timeout: 20_000, interval: 50 }
const [KEPT, LEFT_OUT] = [30, 20]
const FIRST_BLOCK = 10_000
const READERS = 4
/** How long a standby lets a read hold up what it replays: shorter than what the API may lack. */
const PATIENCE_MS = 300

const home = mkdtempSync(join(tmpdir(), 'clusterd-conflict-'))
const names = Array.from({ length: KEPT + LEFT_OUT }, (_, i) => `conflict-${i}`)
const clients: pg.Client[] = []
let world: ApiWorld
let standby: Postgres
let pool: pg.Pool
let api: Awaited<ReturnType<typeof secondApi>>

beforeAll(async () => {
  world = await startApi()
  standby = await startReplica(world.postgres, join(home, 'pg'))
  pool = createPool({ url: standby.url, max: 8, applicationName: 'test', isByIndex: true })
  await pool.query(`ALTER SYSTEM SET max_standby_streaming_delay = '${PATIENCE_MS}ms'`)
  await pool.query('SELECT pg_reload_conf()')
  api = await secondApi(world, { replicas: [{ name: 'standby', pool }] })
  await world.pool.query('UPDATE chains SET next_block = 1000000')
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end().catch(() => {})))
  await api?.stop()
  await pool?.end()
  await standby?.stop()
  await world?.stop()
  rmSync(home, { recursive: true, force: true })
})

interface Item {
  id: string
}

async function call<Body>(path: string, init: RequestInit = {}): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${api.url}${path}`, init)
  return { status: response.status, body: (await response.json()) as Body }
}

const generationOf = ({ id }: Item): number => Number(id.split('-').at(-2))

/** Follows the feed from its first event by pages, and begins anew where it is told to. */
function consume() {
  const read: Item[][] = [[]]
  let isOver = false
  const run = async () => {
    for (let token: string | null = null; !isOver; await sleep(5)) {
      const path = token === null ? '/v1/events?orderBy=oldest&limit=7' : `/v1/events?nextPage=${token}`
      const { status, body } = await call<{ items: Item[]; resume: string; error?: string }>(path)
      if (status === 409) {
        expect(body.error).toBe('feed_restarted')
        token = null
        read.push([])
        continue
      }
      expect([status, body]).toEqual([200, body])
      read.at(-1)!.push(...body.items)
      token = encodeURIComponent(body.resume)
    }
  }
  const done = run()
  return {
    read,
    end: () => {
      isOver = true
      return done
    },
  }
}

/** The whole feed, as the primary has it. */
const events = async (): Promise<Item[]> => (await world.get('/v1/events?orderBy=oldest&limit=1000')).body.items

/** A read of the standby that does not end, and how it ended. */
async function readForLong(): Promise<Promise<pg.DatabaseError>> {
  const client = new pg.Client({ connectionString: standby.url })
  client.on('error', () => {})
  await client.connect()
  clients.push(client)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  await client.query('SELECT count(*) FROM names')
  return client.query('SELECT count(*), pg_sleep(60) FROM names').then(
    () => {
      throw new Error('it was left alone')
    },
    (error: pg.DatabaseError) => error,
  )
}

describe('a rewind that a long read of a standby meets', () => {
  it('cancels the read, and nobody who asks the API notices more than the new generation', async () => {
    const bids = names.map((name, i) => bid({ from: randomAddress(), name, block: FIRST_BLOCK + i }))
    await world.append('mainnet', bids)
    await expect.poll(() => api.replicas()[0]!.isUsed, DEADLINE).toBe(true)
    const position = async (of: pg.Pool) =>
      (await of.query('SELECT seq FROM journal_heads WHERE network = 0')).rows[0].seq
    await expect.poll(() => position(pool), DEADLINE).toBe(await position(world.pool))
    const before = await events()
    let isOver = false
    const seen: { status: number; owned: number }[] = []
    const wanted = JSON.stringify(names.map((name) => ({ name })))
    const readNames = async () => {
      while (!isOver) {
        const { status, body } = await call<unknown[]>('/v1/names', { method: 'POST', body: wanted })
        seen.push({ status, owned: Array.isArray(body) ? body.filter((hit) => hit !== null).length : -1 })
      }
    }
    const told: Item[][] = []
    const readers = Array.from({ length: READERS }, readNames)
    const consumer = consume()
    await expect.poll(() => consumer.read[0]!.length, DEADLINE).toBe(before.length)
    try {
      const long = [readForLong(), readForLong()].map(async (read) => (await read) as pg.DatabaseError)
      await sleep(200)
      const row = (await findChain(world.pool, 'mainnet', '1'))!
      const target = { row, isHub: true, block: FIRST_BLOCK + KEPT, parentHash: Buffer.alloc(32, 1), parentMs: 0 }
      expect(await rewind(world.pool, target, { apply: true })).toMatchObject({ generation: { from: 1, to: 2 } })
      for (const error of await Promise.all(long)) expect(error.message).toMatch(/conflict with recovery/)
      // the standby is used again, and has the new generation
      await expect.poll(() => api.replicas()[0]!.isUsed, DEADLINE).toBe(true)
      await expect.poll(() => position(pool), DEADLINE).toBe(await position(world.pool))
      await expect.poll(() => seen.at(-1)!.owned, DEADLINE).toBe(KEPT)
      const after = await events()
      expect([generationOf(before[0]!), generationOf(after[0]!)]).toEqual([1, 2])
      await expect.poll(() => consumer.read.at(-1)!, DEADLINE).toEqual(after)
      told.push(before, after)
      await sleep(500)
    } finally {
      isOver = true
      await Promise.all([...readers, consumer.end()])
    }
    expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200]))
    // all of one generation or of the other, never rows of both
    expect([...new Set(seen.map(({ owned }) => owned))].sort()).toEqual([KEPT, names.length])
    // told once that the feed began anew, and each event of either generation once
    expect(consumer.read.map((walk) => walk.length)).toEqual(told.map((walk) => walk.length))
    expect(consumer.read).toEqual(told)
  })
})
