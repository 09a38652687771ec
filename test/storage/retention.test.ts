import { afterEach, expect, test, vi } from 'vitest'
import { createExpiredRowsWorker, removeExpiredRows } from '../../src/db/deployment/retention.js'
import { findJobs } from '../../src/db/outbox/due.js'
import type { LeaderContext } from '../../src/ops/context.js'
import { createLogger } from '../../src/ops/logger/logger.js'
import type { EvmJobSnapshot } from '../../src/relayer/machine/index.js'
import type { EvmJob } from '../../src/relayer/machine/job.js'
import { planEvmJobStep } from '../../src/relayer/machine/nonce.js'
import { useDatabase } from '../support/database.js'

const DAY_MS = 86_400_000
const SIGHTINGS = 'transactions that came to nothing'
const BYTES = 'signed bytes of ended jobs'
const SESSIONS = 'sessions that have expired'
const ACTIONS = 'commands of operators'
const ENTRIES = 'entries of generations that ended'
const EVENTS = 'events of SQL before those shown'

const database = useDatabase()
const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values)
const daysAgo = (days: number) => Date.now() - days * DAY_MS

afterEach(() => vi.restoreAllMocks())

const sighting = (
  n: number,
  days: number,
  verdict: string | null = null,
  replacedBy: Buffer | null = null,
) =>
  sql(
    `INSERT INTO tracked_txs (network, hash, chain, first_seen_ms, last_seen_ms, verdict, replaced_by)
     VALUES (0, $1, 1, $2, $2, $3, $4)`,
    [Buffer.alloc(32, n), daysAgo(days), verdict, replacedBy],
  )

const job = (nonce: number, state: number, days: number) =>
  sql(
    `INSERT INTO jobs (network, kind, chain, state, txs, signer, nonce, created_ms, updated_ms)
     VALUES (0, 3, 1, $1, $2, '\\x01', $3, $4, $4)`,
    [state, JSON.stringify([tx('first'), tx('last')]), nonce, daysAgo(days)],
  )
const tx = (hash: string) => ({
  hash,
  raw: '0x02',
  purpose: 'deliver',
  sentBlock: 7,
  isRejected: false,
  gas: '21000',
  valueWei: '0',
  maxFeePerGas: '2',
  maxPriorityFeePerGas: '1',
})

const session = (n: number, expiresMs: number) =>
  sql(
    `INSERT INTO sessions (key_hash, wallet, signing_ms, signature, created_ms, expires_ms)
     VALUES ($1, $1, $2, '', $2, $2)`,
    [Buffer.alloc(32, n), expiresMs],
  )

const action = (days: number) =>
  sql(
    `INSERT INTO operator_actions (id, began_ms, os_user, role, command)
     VALUES (gen_random_uuid(), $1, 'a', 'b', 'c')`,
    [daysAgo(days)],
  )

const entry = (generation: number, seq: number) =>
  sql(
    `INSERT INTO journal (network, generation, seq, kind, at_ms, public_first, public_count, body, effects, ruleset)
     VALUES (0, $1, $2, 1, 0, 0, 0, '', '', 1)`,
    [generation, seq],
  )

test('deletes rows without a result, and keeps rows that a response needs', async () => {
  await sighting(1, 31)
  await sighting(2, 29)
  await sighting(3, 400, 'reverted')
  await sighting(4, 400, null, Buffer.alloc(32, 5))
  await job(1, 4, 31)
  await job(2, 4, 29)
  await job(3, 3, 31)
  await session(1, Date.now() - 1_000)
  await session(2, Date.now() + 60_000)
  await action(366)
  await action(364)
  await sql('UPDATE journal_heads SET generation = 4 WHERE network = 0')
  for (const generation of [1, 2, 3, 4])
    for (let seq = 1; seq <= 1_200; seq++) await entry(generation, seq)
  await sql('UPDATE journal_heads SET feed_generation = 4')
  await sql('INSERT INTO feed_shown (network, generation) VALUES (0, 2), (1, 1)')
  await sql(`INSERT INTO feed_events (network, generation, number, type, actor, at_ms, data)
    SELECT network, generation, 1, '', '', 0, '{}' FROM (VALUES (0, 1), (0, 2), (0, 3), (0, 4), (1, 1)) v (network, generation)`)
  const expected = {
    [SIGHTINGS]: 1,
    [BYTES]: 1,
    [SESSIONS]: 1,
    [ACTIONS]: 1,
    [ENTRIES]: 2_400,
    [EVENTS]: 1,
  }
  expect(await removeExpiredRows(database.pool, 'mainnet')).toEqual(expected)
  expect(await removeExpiredRows(database.pool, 'mainnet')).toEqual({
    [SIGHTINGS]: 0,
    [BYTES]: 0,
    [SESSIONS]: 0,
    [ACTIONS]: 0,
    [ENTRIES]: 0,
    [EVENTS]: 0,
  })
  const left = async (text: string) => (await sql(text)).rows.map((row) => Object.values(row)[0])
  expect(await left('SELECT get_byte(hash, 0) FROM tracked_txs ORDER BY 1')).toEqual([2, 3, 4])
  expect(await left('SELECT get_byte(key_hash, 0) FROM sessions')).toEqual([2])
  expect(await left('SELECT DISTINCT generation FROM journal ORDER BY 1')).toEqual([3, 4])
  expect(await left('SELECT generation FROM feed_events ORDER BY network, generation')).toEqual([
    2, 3, 4, 1,
  ])
  expect(await left("SELECT nonce FROM jobs WHERE txs->0->>'raw' = '' ORDER BY 1")).toEqual([1])
})

test('a job without its bytes, which a rewind checks again, is signed again at its nonce', async () => {
  const row = (await findJobs(database.pool, 'mainnet', ['1']))[0] as EvmJob
  expect(row.txs.map(({ hash, raw }) => [hash, raw])).toEqual([
    ['first', ''],
    ['last', ''],
  ])
  const fees = { maxFeePerGas: 3n, maxPriorityFeePerGas: 2n }
  const prepared = { gas: 21_000n, fees, balanceWei: 10n ** 18n }
  const seen = {
    done: 'no',
    mined: null,
    nonce: 'next',
    head: 9,
    nowMs: 0,
    random: 0,
    searched: 0,
    prepared,
  }
  const reopened = { ...row, state: 'signed' as const }
  const policy = { spendCapWei: 10n ** 18n, gasPriceCapWei: 10n ** 9n }
  expect(planEvmJobStep(reopened, seen as unknown as EvmJobSnapshot, policy)).toMatchObject({
    do: 'sign',
    nonce: 1,
  })
})

test('the leader deletes rows automatically, once an hour', async () => {
  await session(4, Date.now() - 1_000)
  const ctx = {
    pool: database.pool,
    network: 'mainnet',
    log: createLogger({ level: 'silent' }),
  } as unknown as LeaderContext
  const worker = createExpiredRowsWorker(ctx, false)
  const { signal } = new AbortController()
  await worker.step(signal, () => {})
  expect((await sql('SELECT FROM sessions')).rowCount).toBe(1)
  await session(5, Date.now() - 1_000)
  await worker.step(signal, () => {})
  expect((await sql('SELECT FROM sessions')).rowCount).toBe(2)
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + 3_600_001)
  await worker.step(signal, () => {})
  expect((await sql('SELECT FROM sessions')).rowCount).toBe(1)
})

test('may take long, and reports progress, so that its leader is not replaced', async () => {
  await sql('UPDATE journal_heads SET generation = 4 WHERE network = 0')
  await sql(`INSERT INTO journal (network, generation, seq, kind, at_ms, public_first, public_count, body, effects, ruleset)
    SELECT 0, 1, seq, 1, 0, 0, 0, '', '', 1 FROM generate_series(1, 60000) seq`)
  const log = createLogger({ level: 'silent' })
  const ctx = { pool: database.pool, network: 'mainnet', log } as unknown as LeaderContext
  const worker = createExpiredRowsWorker(ctx, false)
  const left = new Set<number | null>()
  const pending: Promise<void>[] = []
  await worker.step(new AbortController().signal, () => {
    const count = sql('SELECT FROM journal WHERE network = 0 AND generation = 1')
    pending.push(count.then(({ rowCount }) => void left.add(rowCount)))
  })
  await Promise.all(pending)
  expect((await sql('SELECT FROM journal WHERE network = 0 AND generation = 1')).rowCount).toBe(0)
  // a sign of progress between two parts
  expect(left.size).toBeGreaterThan(2)
})
