/**
 * `npm run bench:archive`: writes, drops and restores a partition of a generated registry's journal, and compares pages
 * of the feed from its file with those from the table, in one run. docs/operations.md has the figures.
 */
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { dropArchives, restoreArchives, writeArchives } from '../src/db/journal/archive/index.js'
import { serveArchives } from '../src/db/journal/archive/serve.js'
import { readStretch } from '../src/db/journal/feed.js'
import { createPool } from '../src/db/pg/pool.js'
import { createDatabase, startPostgres } from '../src/testing/processes/postgres.js'
import { age, cutJournal } from '../test/support/smallPartitions.js'
import { timed } from './bench/ask.js'
import { type Bench, describeMachine, median, printTable, runBench, thousands } from './bench/bench.js'
import { generate } from './scale/generate.js'
import { walletOf } from './scale/population.js'

const { values } = parseArgs({ options: { entries: { type: 'string', default: '100000' } } })
const count = Number(values.entries)
/** Entries of a generated registry that each name stands for, rounded down. */
const ENTRIES_A_NAME = 2.2
const PAGES = 100
const TABLE = 'public.journal_mainnet_0'

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

async function sizesOf(pool: pg.Pool): Promise<{ rows: number; table: number; indexes: number }> {
  await pool.query(`VACUUM FULL ${TABLE}`)
  const { rows } = await pool.query(`SELECT (SELECT count(*) FROM ${TABLE})::int AS rows,
    pg_table_size('${TABLE}')::int8 AS table, pg_indexes_size('${TABLE}')::int8 AS indexes`)
  return { rows: rows[0].rows, table: Number(rows[0].table), indexes: Number(rows[0].indexes) }
}

/** Median times of a page of 100 events, ms: anywhere in the partition and of a wallet of its own; each, and again. */
async function pages(pool: pg.Pool, dir: string | null): Promise<{ first: number[]; again: number[] }> {
  const { rows } = await pool.query('SELECT max(public_first)::int AS last FROM journal WHERE seq = $1', [count - 1])
  const read = (page: object) =>
    readStretch(pool, 'mainnet', { order: 'oldest', floor: 1, limit: 101, events: 100, first: 1, from: null, ...page })
  const times = { first: [[], []] as number[][], again: [[], []] as number[][] }
  for (let n = 0; n < PAGES; n++) {
    const anywhere = { first: 1 + ((n * 7_919_003) % (rows[0].last - 200)) }
    for (const [i, page] of [anywhere, { from: walletOf(1_000 + n) }].entries()) {
      serveArchives(dir)
      // the index is in memory, and one block that nobody asks for
      await read({ first: rows[0].last, limit: 1 })
      times.first[i]!.push(await timed(() => read(page)))
      times.again[i]!.push(await timed(() => read(page)))
    }
  }
  const medians = (of: number[][]) => of.map(median)
  return { first: medians(times.first), again: medians(times.again) }
}

await runBench(async ({ home, onEnd }: Bench) => {
  const postgres = await startPostgres({ dataDir: `${home}/pg` })
  onEnd(() => postgres.stop())
  const url = await createDatabase(postgres.url, 'archive')
  await generate({ databaseUrl: url, names: Math.ceil((2 * count) / ENTRIES_A_NAME) + 2_000 })
  const pool = createPool({ url, max: 4, applicationName: 'bench', isByIndex: true })
  onEnd(() => pool.end())
  await age(pool)
  await cutJournal(pool, count)
  const options = { network: 'mainnet', dir: home } as const
  // as the command's: the planner may read whole tables
  const own = createPool({ url, max: 2, applicationName: 'bench' })
  onEnd(() => own.end())
  const before = await sizesOf(pool)
  const ofTable = await pages(pool, null)
  let bytes = 0
  const written = await timed(async () => {
    bytes = (await writeArchives(own, options))[0]!.bytes
  })
  const dropped = await timed(() => dropArchives(own, options))
  const after = await sizesOf(pool)
  const ofFile = await pages(pool, home)
  const restored = await timed(() => restoreArchives(own, options))
  const each = (size: number) => (size / before.rows).toFixed(1)
  console.log(await describeMachine(url))
  printTable([
    [`${thousands(before.rows)} entries`, 'rows', 'bytes an entry', 'of indexes'],
    ['table before', thousands(before.rows), each(before.table), each(before.indexes)],
    ['table after', thousands(after.rows), each(after.table), each(after.indexes)],
    ['file', '', each(bytes), ''],
  ])
  console.log(`written in ${seconds(written)} s, dropped in ${seconds(dropped)} s, restored in ${seconds(restored)} s`)
  printTable([
    ['median, ms', 'from the table', 'from the file', 'its block in memory'],
    ...['100 events', 'a wallet’s own'].map((title, i) => [
      ...[title, ...[ofTable.again, ofFile.first, ofFile.again].map((medians) => medians[i]!.toFixed(2))],
    ]),
  ])
})
