import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { generate } from '../../scripts/scale/generate.js'
import { keepSnapshot } from '../../src/db/journal/snapshot/keep.js'
import { replayRange } from '../../src/db/journal/snapshot/range.js'
import { lockKeys } from '../../src/db/pg/codes.js'
import { createPool } from '../../src/db/pg/pool.js'
import { snapshotWorker } from '../../src/indexer/snapshots.js'
import { Loops } from '../../src/ops/loops.js'
import { createMetrics } from '../../src/ops/metrics.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { useDatabase } from './database.js'

const NAMES = 1_500
const BEHIND = 500
const DAMAGE = `UPDATE wallets SET backed_up = NOT backed_up
  WHERE network = 0 AND address = (SELECT min(address) FROM wallets WHERE network = 0)`
const FORGET = 'DROP SCHEMA IF EXISTS snapshot_mainnet CASCADE'
const TIME = { timeout: 30_000, interval: 20 }

const database = useDatabase()
const metrics = createMetrics()
const logged: { level: number; msg: string; alarm?: string }[] = []
const others: pg.Client[] = []
let url: string
let pool: pg.Pool
let seq: number

beforeAll(async () => {
  url = await createDatabase(database.url, 'snapshots')
  seq = (await generate({ databaseUrl: url, names: NAMES })).entries
  pool = createPool({ url, max: 4, applicationName: 'test' })
})
afterEach(async () => {
  await Promise.all(others.splice(0).map((client) => client.end()))
  await pool.query('UPDATE journal_heads SET caught_up = true')
  await pool.query(FORGET)
  logged.length = 0
})
afterAll(() => pool?.end())

function worker(every: number, behind = BEHIND) {
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const context = { pool, databaseUrl: url, network: 'mainnet', epoch: 1, metrics, log } as const
  return snapshotWorker({ ...context, loops: new Loops(), signal: never() }, { every, behind })
}
const never = () => new AbortController().signal
const step = (of: ReturnType<typeof worker>, signal = never()) => of.step(signal, () => {})

/** Another session, as a command's. */
async function session(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  others.push(client)
  return client
}

const texts = async (sql: string): Promise<string[]> =>
  (await pool.query<{ text: string }>(sql)).rows.map(({ text }) => text)
const schemas = () => texts(`SELECT nspname AS text FROM pg_namespace WHERE nspname ~ '^(refold|snapshot)_' ORDER BY 1`)
const sessions = () => texts(`SELECT state AS text FROM pg_stat_activity WHERE application_name ~ '^clusterd snapshot'`)
const waits = () =>
  texts(`SELECT a.state AS text FROM pg_stat_activity a JOIN pg_locks l USING (pid)
    WHERE a.application_name ~ '^clusterd snapshot' AND NOT l.granted`)
const gauge = async (name: string) => (await metrics.registry.getSingleMetric(name)!.get()).values[0]?.value

/** Keeps a replay that has begun from its last table, in the transaction that compares. @returns lets it go on */
async function hold(): Promise<() => Promise<unknown>> {
  const holder = await session()
  await expect
    .poll(() => texts(`SELECT relname AS text FROM pg_class WHERE relname = 'journal_heads'`), TIME)
    .toHaveLength(2)
  await holder.query('BEGIN')
  await holder.query('LOCK TABLE moves_mainnet IN ACCESS EXCLUSIVE MODE')
  await expect.poll(waits, TIME).toHaveLength(1)
  return () => holder.query('ROLLBACK')
}

describe('the worker of snapshots', () => {
  it('keeps one each time that the journal has grown enough', async () => {
    expect(await step(worker(0))).toBe('idle')
    expect(await step(worker(seq - BEHIND + 1))).toBe('idle')
    expect(await schemas()).toEqual([])
    const every = worker(1_000)
    expect(await step(every)).toBe('waiting')
    expect(await gauge('clusterd_snapshot_entry')).toBe(seq - BEHIND)
    expect(await schemas()).toEqual(['snapshot_mainnet'])
    // nothing has come since
    expect(await step(every)).toBe('idle')
    // it goes on from what it kept
    expect(await step(worker(100, 0))).toBe('waiting')
    expect(logged.at(-1)).toMatchObject({ from: seq - BEHIND, kept: seq })
    expect(await step(worker(1))).toBe('idle')
    // a server ends a session after its client
    await expect.poll(sessions).toEqual([])
  })

  it('waits for the first catch-up', async () => {
    await pool.query('UPDATE journal_heads SET caught_up = false')
    expect(await step(worker(1_000))).toBe('idle')
  })

  it('says so where the tables are not what the journal gives, keeps nothing, and tries again later', async () => {
    await pool.query(DAMAGE)
    const of = worker(1_000)
    const close = of.subscribe!()!
    expect(await step(of)).toBe('waiting')
    expect([await gauge('clusterd_state_differs'), await gauge('clusterd_snapshot_failures')]).toEqual([1, 1])
    expect(logged.at(-1)).toMatchObject({ level: 50, alarm: 'ClusterdStateDiffers' })
    expect(await schemas()).toEqual([])
    await pool.query(DAMAGE)
    expect(await step(of)).toBe('idle')
    close()
    expect(await gauge('clusterd_state_differs')).toBeUndefined()
    expect(await step(worker(1_000))).toBe('waiting')
    expect([await gauge('clusterd_state_differs'), await gauge('clusterd_snapshot_failures')]).toEqual([0, 0])
  })

  it('gives way at a stop, wherever it is', async () => {
    for (const ms of [0, 50, 200, 400, 800]) {
      const stop = new AbortController()
      const stepping = step(worker(1_000), stop.signal)
      await sleep(ms)
      stop.abort()
      const startedMs = performance.now()
      await stepping
      expect(performance.now() - startedMs).toBeLessThan(1_000)
    }
    // a quick machine has kept one by then, from which the next has little to do
    await pool.query(FORGET)
    const stop = new AbortController()
    const stepping = step(worker(1_000), stop.signal)
    const letGo = await hold()
    stop.abort()
    expect(await stepping).toBe('waiting')
    expect(logged.at(-1)!.msg).toContain('gave way')
    // the server ends what it waited for
    await expect.poll(sessions, TIME).toEqual([])
    await letGo()
    await step(worker(1_000))
    expect(await schemas()).toEqual(['snapshot_mainnet'])
  })

  it('gives way while a rewind runs', async () => {
    const rewind = await session()
    await rewind.query('SELECT pg_advisory_lock($1, $2)', [...lockKeys('mainnet', 'rewind')])
    expect(await step(worker(1_000))).toBe('waiting')
    expect(await schemas()).not.toContain('snapshot_mainnet')
    await rewind.end()
    expect(await step(worker(1_000))).toBe('waiting')
    expect(await schemas()).toEqual(['snapshot_mainnet'])
  })

  it('gives way to whoever waits for what it reads', async () => {
    const stepping = step(worker(1_000))
    const letGo = await hold()
    const migration = await session()
    await migration.query(`SET lock_timeout = '10s'`)
    await migration.query('BEGIN')
    await migration.query('LOCK TABLE journal_heads IN ACCESS EXCLUSIVE MODE')
    await migration.query('ROLLBACK')
    expect(await stepping).toBe('waiting')
    expect(logged.at(-1)!.msg).toContain('gave way')
    await letGo()
  })

  it('leaves nothing that the next one does not remove, wherever its sessions are ended', async () => {
    for (let round = 0; round < 8; round++) {
      const keeping = keepSnapshot({ ...{ pool, databaseUrl: url, network: 'mainnet', behind: BEHIND }, ...idle() })
      const ended = keeping.catch((error: unknown) => error)
      await expect.poll(sessions, TIME).not.toEqual([])
      await sleep(60 * round)
      await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name ~ '^clusterd snapshot'`)
      await ended
    }
    await expect.poll(sessions, TIME).toEqual([])
    await step(worker(1_000, 1))
    expect(await schemas()).toEqual(['snapshot_mainnet'])
  })

  it('nor wherever a replay is killed', async () => {
    const { command, args } = await programCommand('cli')
    const env = { ...process.env, DATABASE_URL: url }
    const child = spawn(command, [...args, 'replay', '--mainnet', '--keep', '--behind', '100'], {
      env,
      stdio: 'ignore',
    })
    await expect.poll(schemas, { ...TIME, interval: 5 }).not.toEqual([])
    child.kill('SIGKILL')
    const isGone = () => texts(`SELECT state AS text FROM pg_stat_activity WHERE application_name ~ 'replay'`)
    await expect.poll(isGone, TIME).toEqual([])
    expect((await schemas()).join()).toContain('refold_mainnet_')
    await step(worker(1_000))
    expect(await schemas()).toEqual(['snapshot_mainnet'])
  })
})

it('a replay whose second connection fails keeps none of the first', async () => {
  const one = createPool({ url, max: 1, applicationName: 'test' })
  await expect(replayRange(one, 'mainnet', { from: 1 })).rejects.toThrow('timeout')
  const ended = one.end().then(() => 'ended')
  expect(await Promise.race([ended, sleep(2_000)])).toBe('ended')
})

const idle = () => ({ signal: never(), alive: () => {} })

describe('a replay of a range', () => {
  it('gives what the journal says, from the first entry or from a snapshot', async () => {
    const [from, to] = [1_200, 2_300]
    const whole = await replayRange(pool, 'mainnet', { from, to })
    expect(whole).toMatchObject({ base: 0, from, to, different: null })
    expect(whole.live).toBe(whole.rebuilt)
    await keepSnapshot({ ...{ pool, databaseUrl: url, network: 'mainnet', behind: seq - 1_000 }, ...idle() })
    expect(await replayRange(pool, 'mainnet', { from, to })).toEqual({ ...whole, base: 1_000 })
    // a snapshot of a later entry is no beginning
    expect(await replayRange(pool, 'mainnet', { from: 1_000, to })).toMatchObject({ base: 0, different: null })
    expect(await replayRange(pool, 'mainnet', { from: seq })).toMatchObject({ to: seq, base: 1_000, different: null })
  })

  it('names the first entry that differs', async () => {
    const damage = (sql: string, at: number) =>
      pool.query(`UPDATE journal SET ${sql} WHERE network = 0 AND seq = $1`, [at])
    await damage('public_first = public_first + 1', 2_000)
    await damage(`effects = effects || '\\x00'`, 1_500)
    const { different } = await replayRange(pool, 'mainnet', { from: 1_000, to: 2_500 })
    expect(different).toMatchObject({ seq: 1_500 })
    expect(await replayRange(pool, 'mainnet', { from: 1_501, to: 2_500 })).toMatchObject({ different: { seq: 2_000 } })
    for (const [from, to] of [
      [1_000, 1_499],
      [1_501, 1_999],
      [2_001, seq],
    ] as const)
      expect(await replayRange(pool, 'mainnet', { from, to })).toMatchObject({ different: null })
    await damage('public_first = public_first - 1', 2_000)
    await damage('effects = substr(effects, 1, length(effects) - 1)', 1_500)
  })

  it('is refused where the journal does not have it', async () => {
    for (const range of [{ from: 0 }, { from: 10, to: 9 }, { from: 1, to: seq + 1 }])
      await expect(replayRange(pool, 'mainnet', range)).rejects.toThrow(`has the entries 1 to ${seq}: name a range`)
  })
})
