import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  findMessagesToQueue,
  findStuckMessages,
  MAX_QUEUED_MESSAGES,
  MAX_STUCK_MESSAGES,
} from '../../src/db/bridge/openMessages.js'
import { publishEvidence } from '../../src/db/feed/evidence.js'
import { findDueEvmJobs, MAX_EVM_JOBS_PER_STEP } from '../../src/db/outbox/due.js'
import { readSignerStats } from '../../src/db/outbox/stats.js'
import { createPool } from '../../src/db/pg/pool.js'
import type { Queryable } from '../../src/db/pg/rows.js'
import {
  findNamesByPrefix,
  findNamesOfAddresses,
  findWalletsByNames,
  findClusterWalletsOfTypes,
  readNameAvailability,
} from '../../src/db/registry/lookups.js'
import { useDatabase } from '../support/database.js'
import { nodesOf, rowsRead } from '../support/plan.js'

/** Rows of each table. */
const ROWS = 30_000
const DAY_MS = 86_400_000
const CHAIN = { network: 'testnet', chain: 1 } as const
const signer = Buffer.alloc(20, 7)

const database = useDatabase()

const NUMBERED = `FROM generate_series(1, ${ROWS}) i`
const bytesOf = (salt: string, size: number) =>
  `substr(sha256(('${salt}' || i)::bytea), 1, ${size})`

/** One ended job per minute; the newest tenth is waiting. */
const JOBS = `INSERT INTO jobs (network, kind, chain, subject, state, txs, signer, nonce, spent_wei, created_ms, updated_ms)
  SELECT 1, 3, 1, ${bytesOf('job', 32)}, CASE WHEN i > ${ROWS} * 0.9 THEN 0 ELSE 4 END,
    CASE WHEN i > ${ROWS} * 0.9 THEN '[]'::jsonb ELSE jsonb_build_array(jsonb_build_object('hash', 'x', 'raw', repeat('ab', 400))) END,
    $1, CASE WHEN i <= ${ROWS} * 0.9 THEN i END, 1, i * 60000::int8, i * 60000::int8 ${NUMBERED}`
const MESSAGES = `INSERT INTO messages (network, guid, chain, block, block_hash, log_index, tx_hash, sender, sent_ms, packet, options, confirmed, settled)
  SELECT 1, ${bytesOf('message', 32)}, 1, i, ${bytesOf('block', 32)}, 0, ${bytesOf('tx', 32)}, '\\x00', i, ${bytesOf('packet', 32)}, '\\x00', true, false ${NUMBERED}`
const PAYMENTS = `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word, paid_ms, community_word, recipient, number)
  SELECT 1, ${bytesOf('payment', 32)}, 2, 1, 2, ${bytesOf('tx', 64)}, i, i, '\\x02', 'native', 1, ${bytesOf('name', 32)}, i, ${bytesOf('c', 32)}, 'r', i ${NUMBERED}`
/** One address, listed in many clusters. */
const MENTIONS = `INSERT INTO wallets (network, cluster, address, name, verified, private, backed_up, created_seq, updated_seq)
  SELECT 1, i, $1, 'friend', false, false, false, i, i ${NUMBERED}`

/** A cluster of the largest size, with as many names, and without a wallet `main`. */
const MEMBERS = 1_000
const LARGEST = `INSERT INTO wallets (network, cluster, address, name, verified, private, backed_up, created_seq, updated_seq)
  SELECT 1, 0, ${bytesOf('member', 20)}, 'w' || i, true, false, false, i, i FROM generate_series(1, ${MEMBERS}) i`
const HELD = `INSERT INTO names (network, seq, tx_key, name, cluster, outcome, updated_seq)
  SELECT 1, i, 0, 'held-' || i, 0, 1, i FROM generate_series(1, ${MEMBERS}) i`

beforeAll(async () => {
  const { pool } = database
  await pool.query(JOBS, [signer])
  await pool.query(MESSAGES)
  await pool.query(PAYMENTS)
  await pool.query(MENTIONS, [signer])
  for (const text of [LARGEST, HELD]) await pool.query(text)
  await pool.query('ANALYZE names')
  await pool.query('ANALYZE jobs, messages, payments, wallets, received')
})

/** The tables that a statement scans completely, and the number of rows that it returns. */
async function look<T>(
  work: (db: Queryable) => Promise<T>,
): Promise<{ scanned: string[]; result: T }> {
  const scanned: string[] = []
  const { pool } = database
  const query = async (config: pg.QueryConfig) => {
    const nodes = nodesOf(await pool.query(`EXPLAIN (FORMAT JSON) ${config.text}`, config.values))
    for (const node of nodes)
      if (node['Node Type'] === 'Seq Scan') scanned.push(node['Relation Name']!)
    return pool.query(config)
  }
  return { result: await work({ query } as Queryable), scanned }
}

const LARGE = ['jobs', 'messages', 'payments', 'wallets_testnet']
const isLarge = (table: string) => LARGE.includes(table)

describe(`among ${ROWS} rows, no table is scanned completely for`, () => {
  it('a signer’s spending of a day', async () => {
    const { result, scanned } = await look((db) =>
      readSignerStats(db, { ...CHAIN, signer }, ROWS * 0.9 * 60_000 + 1),
    )
    expect(result.spentLastDayWei).toBe(BigInt(DAY_MS / 60_000))
    expect(scanned.filter(isLarge)).toEqual([])
  })

  it('the jobs of a step, the oldest first', async () => {
    const { result, scanned } = await look((db) => findDueEvmJobs(db, CHAIN, Date.now()))
    expect(result.length).toBe(MAX_EVM_JOBS_PER_STEP)
    expect(result[0]!.createdMs).toBe((ROWS * 0.9 + 1) * 60_000)
    expect(scanned.filter(isLarge)).toEqual([])
  })

  it('the messages of a step, the oldest first, and the alarm of stranded ones', async () => {
    const fresh = await look((db) => findMessagesToQueue(db, 'testnet', Date.now()))
    expect(fresh.result.map(({ sentMs }) => sentMs)).toEqual(
      Array.from({ length: MAX_QUEUED_MESSAGES }, (_, i) => i + 1),
    )
    const stuck = await look((db) => findStuckMessages(db, 'testnet', Date.now()))
    expect(stuck.result.length).toBe(MAX_STUCK_MESSAGES)
    expect([...fresh.scanned, ...stuck.scanned].filter(isLarge)).toEqual([])
  })

  it('the oldest entry of an address', async () => {
    const { result, scanned } = await look((db) => findNamesOfAddresses(db, 'testnet', [signer]))
    expect(result).toMatchObject([{ walletName: 'friend', isVerified: false }])
    expect(scanned.filter(isLarge)).toEqual([])
  })
})

/** Rows of wallets that a statement reads. */
async function walletsRead(work: (db: Queryable) => Promise<unknown>): Promise<number> {
  let read = 0
  const query = async ({ text, values }: pg.QueryConfig) => {
    for (const node of nodesOf(
      await database.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values),
    ))
      if (node['Relation Name'] === 'wallets_testnet') read += rowsRead(node)
    return database.pool.query(text, values as unknown[])
  }
  await work({ query } as Queryable)
  return read
}

it('any number of names of one large cluster read it once', async () => {
  const of = (wallet: (i: number) => string | null) =>
    Array.from({ length: MEMBERS }, (_, i) => ({ cluster: `held-${i + 1}`, wallet: wallet(i) }))
  expect(
    await walletsRead((db) =>
      findWalletsByNames(
        db,
        'testnet',
        of((i) => `w${i + 1}`),
      ),
    ),
  ).toBeLessThanOrEqual(2 * MEMBERS)
  expect(
    await walletsRead((db) =>
      findWalletsByNames(
        db,
        'testnet',
        of(() => null),
      ),
    ),
  ).toBeLessThanOrEqual(2 * MEMBERS)
})

it('the wallet of a kind reads its cluster once', async () => {
  const read = await walletsRead((db) =>
    findClusterWalletsOfTypes(db, 'testnet', [{ cluster: 'held-1', stored: '^01' }]),
  )
  expect(read).toBeLessThanOrEqual(MEMBERS)
})

it('availability reads no other names of the tail, with the plan that a connection caches', async () => {
  await database.pool.query(`INSERT INTO facts (network, chain, block_hash, log_index, block, kind, tx_hash, name, cause_ms, body)
    SELECT 1, 1, ${bytesOf('block', 32)}, 0, i, 1, ${bytesOf('tx', 32)}, 'fact-' || i, i, '' FROM generate_series(1, ${MEMBERS}) i`)
  const one = createPool({ url: database.url, max: 1, applicationName: 'test', isByIndex: true })
  const read: unknown[] = []
  const query = async (config: pg.QueryConfig) => {
    await one.query(`PREPARE asked (text[]) AS ${config.text}`)
    const explained = await one.query(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked (ARRAY['fact-7'])`,
    )
    for (const node of nodesOf(explained)) read.push(node['Actual Rows'])
    return one.query(config)
  }
  expect(await readNameAvailability({ query } as Queryable, 'testnet', ['fact-7'])).toEqual([
    'pending',
  ])
  await one.end()
  expect(Math.max(...read.map(Number))).toBe(1)
})

it(`a search among ${ROWS} names reads only the names of its result by their index, with the plan that a connection caches`, async () => {
  await database.pool.query(`INSERT INTO names (network, seq, tx_key, name, cluster, outcome, updated_seq)
    SELECT 1, ${MEMBERS} + i, 0, 'found-' || i, i, 1, i ${NUMBERED}`)
  await database.pool.query('ANALYZE names')
  const one = createPool({ url: database.url, max: 1, applicationName: 'test', isByIndex: true })
  const read: unknown[] = []
  const query = async (config: pg.QueryConfig) => {
    await one.query(`SET plan_cache_mode = force_generic_plan`)
    await one.query(`PREPARE asked (text, int8) AS ${config.text}`)
    const explained = await one.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked ('found-', 10)`)
    for (const node of nodesOf(explained))
      if (node['Index Name']) read.push([node['Index Name'], rowsRead(node)])
      else expect(node['Node Type']).toBe('Limit')
    return one.query(config)
  }
  const found = await findNamesByPrefix({ query } as Queryable, 'testnet', 'found-', 10)
  await one.end()
  expect(found.slice(0, 3)).toEqual(['found-1', 'found-10', 'found-100'])
  expect(read).toEqual([['names_testnet_network_name_idx', 10]])
})

it('a step of the evidence log reads no entry of a journal without evidence, before its tables are analyzed', async () => {
  await database.pool.query(`INSERT INTO journal (network, generation, seq, kind, at_ms, public_first, public_count, body, effects, ruleset)
    SELECT network, generation, i, 1, i, i, 1, '', '', 1 FROM journal_heads, generate_series(1, ${MEMBERS}) i WHERE network = 0`)
  await database.pool.query(`INSERT INTO wallets (network, cluster, address, name, verified, private, backed_up, created_seq, updated_seq)
    SELECT 0, i, ${bytesOf('owner', 20)}, 'main', true, false, false, i, i FROM generate_series(1, ${MEMBERS}) i`)
  let read = 0
  const query = async ({ text, values }: pg.QueryConfig) => {
    const explained = await database.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
    for (const node of nodesOf(explained))
      if (node['Relation Name']?.startsWith('journal_mainnet')) read += rowsRead(node)
    return database.pool.query(text, values as unknown[])
  }
  const scope = { pool: { query } as unknown as pg.Pool, network: 'mainnet', epoch: 1 } as const
  await publishEvidence(scope, 1)
  expect(read).toBe(0)
})
