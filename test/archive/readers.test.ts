import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { OVERVIEW_DAYS } from '../../src/api/overview/overview.js'
import { NAMES_ENTRIES } from '../../src/db/journal/archive/switch.js'
import { LEAST_AGE_MS } from '../../src/db/journal/archive/write.js'
import { useDatabase } from '../storage/database.js'

/** What is left of a dropped partition is what its readers need: the list in src/db/journal/archive/switch.ts. */

const database = useDatabase()

it('columns that name an entry by its number are those whose entries stay', async () => {
  const { rows } = await database.pool.query<{ table: string; column: string }>(
    `SELECT c.relname AS table, a.attname AS column FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attnum > 0 AND (a.attname = 'seq' OR a.attname LIKE '%\\_seq') ORDER BY c.relname, a.attnum`,
  )
  const found = rows.filter(({ table }) => !['journal', 'journal_heads', 'archives'].includes(table))
  const stay = Object.entries(NAMES_ENTRIES).flatMap(([table, columns]) => columns.map((column) => ({ table, column })))
  const inOrder = (list: { table: string; column: string }[]) =>
    list.map(({ table, column }) => `${table}.${column}`).sort()
  expect(inOrder(found)).toEqual(inOrder(stay))
})

/** How each source of src/db reaches the journal's rows; a new one has to be served by what stays, or refuse. */
const READERS: Record<string, 'number' | 'block' | 'feed' | 'refuses' | 'writes' | 'all generations'> = {
  'deployment/retention.ts': 'all generations',
  // locks it alone
  'journal/archive/archives.ts': 'refuses',
  'journal/archive/switch.ts': 'writes',
  'journal/chains.ts': 'block',
  'journal/export/public.ts': 'refuses',
  'journal/export/read.ts': 'refuses',
  'journal/export/write.ts': 'writes',
  'journal/feed.ts': 'feed',
  'journal/partitions.ts': 'writes',
  'journal/replay.ts': 'refuses',
  'journal/rewind/index.ts': 'refuses',
  'journal/rewind/light.ts': 'block',
  'journal/rewind/report.ts': 'refuses',
  'journal/sliceCommunities.ts': 'number',
  'journal/snapshot/range.ts': 'refuses',
  'journal/stateHash.ts': 'refuses',
  'journal/transactions.ts': 'number',
  'outbox/list.ts': 'block',
  'outbox/payouts.ts': 'number',
  'outbox/refusals.ts': 'block',
  'payments/ofTransaction.ts': 'block',
  'pg/prepared.ts': 'number',
  'registry/clusters.ts': 'number',
  'registry/communityNames.ts': 'number',
  // of the last month, whose entries are never archived
  'registry/overview.ts': 'feed',
  'registry/owners.ts': 'number',
}
const READS =
  /\bl\.journal\b|\bentryAt\(|leaf\('journal'|\b(FROM|JOIN|INTO|UPDATE) (public\.)?journal\b|live\('journal'\)/

it('sources that read the journal are those that were looked at', () => {
  const db = join(import.meta.dirname, '../../src/db')
  const sources = readdirSync(db, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.startsWith('generated'),
  )
  const reading = sources.filter((path) => READS.test(readFileSync(join(db, path), 'utf8')))
  expect(reading.sort()).toEqual(Object.keys(READERS).sort())
})

it('entries of the days of an overview are never archived', () => {
  expect(LEAST_AGE_MS).toBeGreaterThan((OVERVIEW_DAYS + 1) * 86_400_000)
})
