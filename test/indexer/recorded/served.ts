import type pg from 'pg'
import { feedPage } from '../../../src/api/feed/feed.js'
import { createRequestContexts } from '../../../src/api/http/context.js'
import { readNameAvailability } from '../../../src/db/registry/lookups.js'

/** What the service shows as final, as comparable texts. */
export interface Served {
  /** Items of the public feed, in order. */
  feed: string[]
  /** Entries of the journal, in order. */
  journal: string[]
  /** Confirmed payments, messages and credits, in no order. */
  rows: string[]
}

const text = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))

const JOURNAL = `SELECT seq, kind, chain, block, log_index, at_ms, encode(body, 'hex'), encode(effects, 'hex')
  FROM journal WHERE network = 0 ORDER BY seq`
/** Without what happens to a payment later: its state and outcome. */
const ROWS = `
  SELECT 'payment', to_jsonb(p) - 'state' - 'outcome' - 'outcome_block' FROM payments p WHERE state > 0
  UNION ALL SELECT 'message', to_jsonb(m) - 'settled' FROM messages m WHERE confirmed
  UNION ALL SELECT 'received', to_jsonb(r) FROM received r WHERE confirmed
  UNION ALL SELECT 'credit', to_jsonb(c) FROM hub_credits c`

export const contextOf = (pool: pg.Pool) =>
  createRequestContexts({
    pool,
    chains: [],
    config: { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) },
  }).mainnet

export async function readServed(pool: pg.Pool): Promise<Served> {
  const rowsOf = async (sql: string) => (await pool.query({ text: sql, rowMode: 'array' })).rows
  const [page, journal, rows] = await Promise.all([
    feedPage(contextOf(pool), { isTestnet: false, limit: 10_000, order: 'oldest' }),
    rowsOf(JOURNAL),
    rowsOf(ROWS),
  ])
  return { feed: page.items.map(text), journal: journal.map(text), rows: rows.map(text) }
}

/** Those of some names that are taken for good. */
export async function takenOf(pool: pg.Pool, names: readonly string[]): Promise<string[]> {
  const found = await readNameAvailability(pool, 'mainnet', names)
  return names.filter((_, i) => found[i] === 'taken')
}
