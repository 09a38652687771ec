import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import type { Queryable } from '../../src/db/pg/rows.js'
import { findNamesOfAddresses, findWalletsByNames } from '../../src/db/registry/lookups.js'
import { refreshRanking } from '../../src/db/registry/ranking.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { useDatabase } from '../support/database.js'
import { nodesOf, rowsRead } from '../support/plan.js'
import { generate } from '../support/scale/generate.js'
import { nameOf, walletOf } from '../support/scale/population.js'
import { COMMUNITY, NAMES, NETWORK, ORDINARY, READS } from './reads.js'

const PAYMENTS = 20_000
const database = useDatabase()
let pool: pg.Pool

/** Payments of one payer for names below one community, beside many of others for names of others. */
const PAID = `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word, name, paid_ms,
    community_word, community, recipient, number, reclaimable_ms)
  SELECT 0, sha256(('p' || i)::bytea), 2, 1, 2, sha256(('t' || i)::bytea), i, i, CASE WHEN i % 1000 = 0 THEN $1::bytea ELSE sha256(('w' || i)::bytea) END,
    'native', 1, '\\x00', 'n' || i, i, '\\x00', CASE WHEN i % 1000 = 0 THEN $2 ELSE 'c' || i % 100 END, 'r', i, i
  FROM generate_series(1, ${PAYMENTS}) i`
const CREDITED = `INSERT INTO hub_credits (network, block, log_index, tx_hash, wallet, eid, amount_wei)
  SELECT 0, i, 0, sha256(('t' || i)::bytea), sha256(('w' || i)::bytea), 1, 1 FROM generate_series(1, ${PAYMENTS}) i`
const KEYS = `INSERT INTO api_keys (key_hash, wallet, slot, name, created_ms)
  SELECT sha256(('k' || i)::bytea), sha256(('w' || i / 10)::bytea), i % 10, '', i FROM generate_series(1, ${PAYMENTS}) i`

beforeAll(async () => {
  const url = await createDatabase(database.url, 'bounded')
  await generate({ databaseUrl: url, names: NAMES })
  pool = createPool({ url, max: 1, applicationName: 'test', isByIndex: true })
  await refreshRanking(pool, NETWORK)
  await pool.query(
    `INSERT INTO chains (network, chain, label, instance, chain_id, contract, next_block) VALUES (0, 1, '1', '', 1, '', 1)`,
  )
  await pool.query(PAID, [walletOf(ORDINARY), nameOf(COMMUNITY)])
  for (const text of [CREDITED, KEYS]) await pool.query(text)
  await pool.query('ANALYZE')
})
afterAll(() => pool.end())

/** Of one row a network, or a chain. */
const SMALL = ['journal_heads', 'chains']

interface Examined {
  /** Rows that a query reads from tables. */
  rows: number
  /** Tables that it reads whole. */
  whole: string[]
  /** Times that it looks for clusters on the move. */
  movesSought: number
}

async function examined(work: (db: Queryable) => Promise<unknown>): Promise<Examined> {
  const found: Examined = { rows: 0, whole: [], movesSought: 0 }
  const query = async (config: pg.QueryConfig) => {
    for (const node of nodesOf(
      await pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${config.text}`, config.values),
    )) {
      const table = node['Relation Name']
      if (!table || SMALL.includes(table)) continue
      found.rows += rowsRead(node)
      if (table === 'moves_mainnet') found.movesSought += node['Actual Loops']
      if (node['Node Type'] === 'Seq Scan') found.whole.push(table)
    }
    return pool.query(config)
  }
  await work({ query } as Queryable)
  return found
}

describe(`in a registry of ${NAMES} names, with skew`, () => {
  it.each(READS)('%s reads %d rows at most, by indexes', async (_, most, read) => {
    const { rows, whole } = await examined(read)
    expect(whole).toEqual([])
    expect(rows).toBeLessThanOrEqual(most)
  })
})

describe('of a thousand keys at once', () => {
  const keys = Array.from({ length: 1_000 }, (_, i) => ORDINARY + i)
  const addresses = keys.map((key) => walletOf(key))
  const names = keys.map((key) => ({ cluster: nameOf(key), wallet: null }))

  it.each<[string, (db: Queryable) => Promise<unknown>]>([
    ['names of addresses', (db) => findNamesOfAddresses(db, NETWORK, addresses)],
    ['addresses of names', (db) => findWalletsByNames(db, NETWORK, names)],
  ])('%s cost two rows a key, and one look whether anything moves', async (_, read) => {
    const { rows, movesSought } = await examined(read)
    expect(rows).toBeLessThanOrEqual(2 * keys.length)
    expect(movesSought).toBeLessThanOrEqual(2)
  })
})
