import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import type { Queryable } from '../../src/db/pg/rows.js'
import { findByAddresses, findByNames } from '../../src/db/registry/lookups.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { generate } from '../support/scale/generate.js'
import { nameOf, walletOf } from '../support/scale/population.js'
import { useDatabase } from './database.js'

const NAMES = 600
const database = useDatabase()
let pool: pg.Pool

beforeAll(async () => {
  const url = await createDatabase(database.url, 'bulk')
  await generate({ databaseUrl: url, names: NAMES })
  pool = createPool({ url, max: 4, applicationName: 'test', isByIndex: true })
})
afterAll(() => pool.end())

/** Cut out of all keys, since some share a cluster, and every fifth is nobody's. */
const keys = Array.from({ length: NAMES }, (_, i) => i)
const addresses = keys.map((key) => (key % 5 === 0 ? Buffer.alloc(20, key + 1) : walletOf(key)))
const names = keys.map((key) => ({ cluster: key % 5 === 0 ? `nobody${key}` : nameOf(key), wallet: null }))

const kinds = [
  [
    'names of addresses',
    (db: Queryable, from = 0, to = NAMES) => findByAddresses(db, 'mainnet', addresses.slice(from, to)),
  ],
  ['addresses of names', (db: Queryable, from = 0, to = NAMES) => findByNames(db, 'mainnet', names.slice(from, to))],
] as const

/** The pool, with the number of statements so far before each. */
const counted = (before: (statements: number) => Promise<unknown> = async () => {}) => {
  const statements: Promise<unknown>[] = []
  const query = (config: pg.QueryConfig) => {
    const earlier = [...statements]
    const answer = Promise.all(earlier.slice(-1))
      .then(() => before(earlier.length))
      .then(() => pool.query(config))
    statements.push(answer)
    return answer
  }
  return { statements, db: { query } as unknown as Queryable }
}

/** What a reader could see of hits. */
const shown = (hits: readonly (object | null)[]) => hits.map((hit) => hit && { ...hit, version: undefined })

describe.each(kinds)('%s in bulk', (_, find) => {
  it('are found by halves as they are a few at a time', async () => {
    const few = []
    for (let i = 0; i < NAMES; i += 100) few.push(...(await find(pool, i, i + 100)))
    const { db, statements } = counted()
    expect(shown(await find(db))).toEqual(shown(few))
    expect(statements).toHaveLength(2)
    expect(few.filter(Boolean).length).toBeGreaterThan(NAMES / 2)
  })

  it('are of one state where the registry changes between the halves', async () => {
    const { db, statements } = counted(async (earlier) => {
      if (earlier !== 1) return
      await pool.query(`WITH changed AS (UPDATE wallets SET name = 'renamed' || name WHERE network = 0)
        UPDATE journal_heads SET seq = seq + 1, public_seq = public_seq + 1 WHERE network = 0`)
    })
    const hits = shown(await find(db))
    expect(statements).toHaveLength(3)
    expect(hits).toEqual(shown(await find(pool)))
  })
})
