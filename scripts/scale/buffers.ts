import type pg from 'pg'
import { readStretch } from '../../src/db/journal/feed.js'
import { findJournalled } from '../../src/db/journal/transactions.js'
import { createPool } from '../../src/db/pg/pool.js'
import type { Queryable } from '../../src/db/pg/rows.js'
import { readAvailability } from '../../src/db/registry/availability.js'
import { findClusterById, findClusterByName } from '../../src/db/registry/clusters.js'
import { findByAddresses, findByNames } from '../../src/db/registry/lookups.js'
import { findOwnedNames } from '../../src/db/registry/owners.js'
import { clusterId } from '../../src/registry/primitives/clusterId.js'
import { median } from '../bench/bench.js'
import { nameOf, txOf, walletOf } from './population.js'
import { AT_ONCE, clusterOf, ordinary } from './questions.js'
import type { Registry } from './registries.js'

/** What the hot statements do inside PostgreSQL, as EXPLAIN tells it: pages of 8 KiB, and time without the network. */

const NETWORK = 'mainnet'
const ROUNDS = 60
const PAGE = { order: 'oldest', floor: 0, limit: AT_ONCE, events: AT_ONCE, from: null } as const

export interface Explained {
  /** Pages that a statement touches, median. */
  pages: number
  /** Of these, pages that shared_buffers lacked. */
  read: number
  /** Execution in the server, ms, median. */
  ms: number
}

interface Plan {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }
  'Execution Time': number
}

type Read = (db: Queryable, round: number) => Promise<unknown>

/** The statements, by what asks them. */
function readsOf(registry: Registry): Map<string, Read> {
  const at = (round: number) => clusterOf(registry, round + 200_000)
  const many = <T>(round: number, of: (cluster: number) => T) =>
    Array.from({ length: AT_ONCE }, (_, i) => of(at(round * AT_ONCE + i)))
  const page = (share: number) => (db: Queryable, round: number) =>
    readStretch(db, NETWORK, { ...PAGE, first: Math.floor(registry.events * share) + round * AT_ONCE })
  return new Map<string, Read>([
    ['name of an address', (db, round) => findByAddresses(db, NETWORK, [walletOf(at(round))])],
    ['address of a name', (db, round) => findByNames(db, NETWORK, [{ cluster: nameOf(at(round)), wallet: null }])],
    ['names of 1,000 addresses, each half', (db, round) => findByAddresses(db, NETWORK, many(round, walletOf))],
    [
      'addresses of 1,000 names, each half',
      (db, round) =>
        findByNames(
          db,
          NETWORK,
          many(round, (one) => ({ cluster: nameOf(one), wallet: null })),
        ),
    ],
    ['availability of a taken name', (db, round) => readAvailability(db, NETWORK, [nameOf(at(round))])],
    ['availability of a free name', (db, round) => readAvailability(db, NETWORK, [`${nameOf(at(round))}__`])],
    [
      'cluster by its id',
      (db, round) => findClusterById(db, NETWORK, clusterId(NETWORK, walletOf(ordinary(at(round))), 0)),
    ],
    ['cluster by a name', (db, round) => findClusterByName(db, NETWORK, nameOf(ordinary(at(round))))],
    [
      '100 names of the greatest owner',
      (db, round) => findOwnedNames(db, NETWORK, walletOf(1), { after: 10 + round, limit: 100 }),
    ],
    ['bids of a transaction', (db, round) => findJournalled(db, NETWORK, [txOf(at(round), 0)])],
    ['1,000 events at the start', page(0)],
    ['1,000 events in the middle', page(0.5)],
    ['1,000 events at the end', page(0.9)],
  ])
}

/** Explains each statement for keys that nobody has asked for. */
export async function explain(registry: Registry): Promise<Map<string, Explained>> {
  const pool = createPool({ url: registry.databaseUrl, max: 1, applicationName: 'scale', isByIndex: true })
  const explained = new Map<string, Explained>()
  for (const [title, read] of readsOf(registry)) {
    const plans: Plan[] = []
    const query = async (config: pg.QueryConfig) => {
      const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${config.text}`, config.values)
      plans.push((rows[0] as { 'QUERY PLAN': [Plan] })['QUERY PLAN'][0])
      return pool.query(config)
    }
    for (let round = 0; round < ROUNDS; round++) await read({ query } as Queryable, round)
    const of = (value: (plan: Plan) => number) => median(plans.map(value))
    explained.set(title, {
      pages: of(({ Plan: plan }) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']),
      read: of(({ Plan: plan }) => plan['Shared Read Blocks']),
      ms: of((plan) => plan['Execution Time']),
    })
  }
  await pool.end()
  return explained
}

/** Bytes of tables and of their indexes, with the rows that the planner counts. */
export interface Sized {
  table: string
  rows: number
  heap: number
  indexes: { name: string; bytes: number }[]
}

const SIZES = `
  SELECT coalesce(p.relname, c.relname) AS table, sum(greatest(c.reltuples, 0))::int8 AS rows,
    sum(pg_table_size(c.oid))::int8 AS heap
  FROM pg_class c
  LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent AND p.relname LIKE 'journal%'
  WHERE c.relkind = 'r' AND c.relname ~ '_mainnet' GROUP BY 1 ORDER BY 3 DESC`
const INDEXES = `
  SELECT coalesce(p.relname, c.relname) AS table,
    regexp_replace(pg_get_indexdef(x.indexrelid), '^.* USING btree ', '') AS name,
    sum(pg_relation_size(x.indexrelid))::int8 AS bytes
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid
  LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent AND p.relname LIKE 'journal%'
  WHERE c.relkind = 'r' AND c.relname ~ '_mainnet' GROUP BY 1, 2 ORDER BY 3 DESC`

/** What the tables of a registry take. */
export async function sizesOf({ databaseUrl }: Registry): Promise<Sized[]> {
  const pool = createPool({ url: databaseUrl, max: 1, applicationName: 'scale' })
  const tables = (await pool.query<Omit<Sized, 'indexes'>>(SIZES)).rows
  const indexes = (await pool.query<{ table: string; name: string; bytes: number }>(INDEXES)).rows
  await pool.end()
  return tables.map((one) => ({ ...one, indexes: indexes.filter(({ table }) => table === one.table) }))
}
