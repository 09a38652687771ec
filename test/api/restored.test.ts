import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { restartFeedsAfterRestore } from '../../src/cli/journal/restored.js'
import { createRestoreDetector } from '../../src/db/deployment/restored.js'
import { createListener } from '../../src/db/pg/notify.js'
import { WorkerLoops } from '../../src/ops/loops.js'
import { printed } from '../support/cli.js'
import { bid, freshName, randomAddress, useApi } from './support.js'

const world = useApi()

/** All tables that a bid writes. */
const TABLES = ['journal_heads', 'journal', 'names', 'clusters', 'wallets']

async function backUp(): Promise<void> {
  await world.pool.query('DROP SCHEMA IF EXISTS backup CASCADE; CREATE SCHEMA backup')
  for (const table of TABLES)
    await world.pool.query(`CREATE TABLE backup.${table} AS TABLE public.${table}`)
}
async function restore(): Promise<void> {
  for (const table of TABLES)
    await world.pool.query(
      `TRUNCATE public.${table}; INSERT INTO public.${table} SELECT * FROM backup.${table}`,
    )
}

const grow = (count: number): Promise<void> =>
  world.append(
    'mainnet',
    Array.from({ length: count }, () => bid({ from: randomAddress(), name: freshName() })),
  )
const page = (token: string) => world.get(`/v1/events?nextPage=${token}`)
async function first(): Promise<{ id: string; resume: string }> {
  const { body } = await world.get('/v1/events?limit=1000')
  return { id: body.items[0].id, resume: body.resume }
}

/** `clusterd journal restored`, run in this process. */
async function run(yes: boolean) {
  return JSON.parse(
    await printed({ DATABASE_URL: world.postgres.url }, () =>
      restartFeedsAfterRestore({ yes, json: true }),
    ),
  )
}

it('a page token after the end of a restored journal is refused', async () => {
  await grow(3)
  await backUp()
  const { resume: atEnd } = await first()
  await grow(10)
  const { resume: ahead } = await first()
  await restore()
  expect((await page(atEnd)).status).toBe(200)
  const { status, body } = await page(ahead)
  expect([status, JSON.stringify(body)]).toEqual([409, expect.stringContaining('feed_restarted')])
})

it('a page gets 503 where a server that lags behind was asked for its clusters', async () => {
  // more clusters than the first test's pages contain
  await grow(12)
  // like a server that lags behind: hide the newest cluster
  const hide =
    'UPDATE clusters SET serial = -serial WHERE network = 0 AND abs(serial) = (SELECT max(abs(serial)) FROM clusters)'
  await world.pool.query(hide)
  expect(await world.get('/v1/events?limit=1000')).toMatchObject({
    status: 503,
    body: { error: 'unavailable' },
  })
  await world.pool.query(hide)
  expect((await world.get('/v1/events?limit=1000')).status).toBe(200)
})

it('after clusterd journal restored every earlier token is refused', async () => {
  await backUp()
  const before = await first()
  await grow(4)
  const lost = await first()
  await restore()
  await grow(8)
  // its number belongs to another entry now, which only the command can know
  expect((await page(lost.resume)).status).toBe(200)
  expect(await run(false)).toMatchObject({ applied: false })
  expect((await page(before.resume)).status).toBe(200)

  const { networks } = await run(true)
  expect(networks.mainnet.feed.to).toBeGreaterThan(networks.mainnet.feed.from)
  expect((await page(before.resume)).status).toBe(409)
  expect((await page(lost.resume)).status).toBe(409)
  const after = await first()
  expect(after.id).toBe(`m-${networks.mainnet.feed.to}-1`)
  expect((await page(after.resume)).status).toBe(200)
  // the lost entries' clusters had the serials that other clusters have now
  const { body } = await world.get('/v1/events?limit=1000')
  const shown = body.items.flatMap(
    ({ type, data }: { type: string; data: { cluster_id: string } }) =>
      type === 'CREATE_CLUSTER' ? [data.cluster_id] : [],
  )
  const sql = `SELECT '0x' || encode(id, 'hex') AS id FROM clusters WHERE network = 0 ORDER BY serial`
  expect(shown).toEqual((await world.pool.query<{ id: string }>(sql)).rows.map(({ id }) => id))
})

it('each run of the command gives the feed a new generation, also within a minute', async () => {
  await backUp()
  const first = await run(true)
  await restore()
  await sleep(2_100)
  const second = await run(true)
  expect(second.networks.mainnet.feed.to).toBeGreaterThan(first.networks.mainnet.feed.to)
})

it('processes that have seen lost entries restart the feed automatically, once', async () => {
  await backUp()
  const stop = new AbortController()
  const reported: string[] = []
  const looks = [0, 0]
  const listeners = looks.map((_, i) => {
    const memory = createRestoreDetector(world.pool, (network) => reported.push(network))
    const onWake = () => void memory().then(() => looks[i]!++)
    const options = {
      url: world.postgres.url,
      signal: stop.signal,
      loops: new WorkerLoops(),
      onWake,
    }
    return createListener({ ...options, onError: (error) => reported.push(error.message) })
  })
  const looked = async () => {
    const before = [...looks]
    await expect
      .poll(() => looks.every((count, i) => count > before[i]! + 1), { timeout: 10_000 })
      .toBe(true)
  }
  await grow(4)
  await looked()
  const lost = await first()
  expect(reported).toEqual([])
  await restore()
  await grow(8)
  await expect.poll(async () => (await page(lost.resume)).status, { timeout: 10_000 }).toBe(409)
  const { id } = await first()
  await looked()
  expect((await first()).id).toBe(id)
  expect(new Set(reported)).toEqual(new Set(['mainnet']))
  stop.abort()
  await Promise.all(listeners.map(({ done }) => done))
})

it('clusterd journal restored makes leaders take over, delays changes, and checks jobs again', async () => {
  const { pool } = world
  await pool.query('UPDATE journal_heads SET caught_up = true')
  await pool.query(
    `INSERT INTO jobs (network, kind, chain, subject, state, next_ms, created_ms, updated_ms)
     VALUES (0, 2, 1, '\\x01', 0, 4000000000000, 1, 1), (0, 2, 1, '\\x02', 4, 4000000000000, 1, 1)`,
  )
  const epochs = async () =>
    (
      await pool.query<{ epoch: number }>('SELECT epoch FROM leaders ORDER BY network, role')
    ).rows.map(({ epoch }) => epoch)
  const before = await epochs()
  expect((await run(true)).networks.mainnet.jobs).toBe(1)
  expect(await epochs()).toEqual(before.map((epoch) => epoch + 1))
  const { rows } = await pool.query('SELECT next_ms FROM jobs ORDER BY subject')
  expect(rows.map((row) => row.next_ms)).toEqual([0, 4_000_000_000_000])
  const heads = await pool.query('SELECT caught_up FROM journal_heads')
  expect(heads.rows).toEqual([{ caught_up: false }, { caught_up: false }])
})
