/**
 * `npm run bench:indexes`: what each index of the registry's tables costs a row, by the processor time of PostgreSQL's
 * backend. docs/measure/benchmarks.md says how it is measured.
 */
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../src/db/pg/migrate.js'
import { startPostgres } from '../src/testing/processes/postgres.js'
import { cpuMs, describeMachine, median, printTable, runBench } from './bench/bench.js'

const ROWS = 48_000
/** Rows per INSERT statement, as in a catch-up. */
const AT_ONCE = 3_000
const RUNS = 5

const HASH = (seed: string) => `md5('${seed}' || n)`
const BYTES_21 = `decode('01' || ${HASH('a')} || left(${HASH('b')}, 8), 'hex')`
const TX_KEY = `('x' || left(${HASH('t')}, 16))::bit(64)::int8`

/** By table, the columns of `ROWS` sample rows, numbered by `n`, as large as the rows of a wallet's first name. */
const TABLES: Readonly<Record<string, string>> = {
  journal: `0 AS network, 1 AS generation, n AS seq, 1 AS kind, 0 AS chain, n / 500 AS block, n % 500 AS log_index,
    ${TX_KEY} AS tx_key, n AS at_ms, 3 * n AS public_first, 3 AS public_count, ${BYTES_21} AS actor,
    decode(repeat(${HASH('c')}, 6), 'hex') AS body, decode(repeat(${HASH('d')}, 4), 'hex') AS effects, 1 AS ruleset`,
  names: `0 AS network, n AS seq, ${TX_KEY} AS tx_key, 'name-' || n AS name, n AS cluster, 1 AS outcome, n AS updated_seq`,
  clusters: `0 AS network, n AS serial, decode(${HASH('c')} || ${HASH('d')}, 'hex') AS id, n AS created_seq`,
  wallets: `0 AS network, n AS cluster, ${BYTES_21} AS address, 'main' AS name, true AS verified, false AS private,
    true AS backed_up, n AS created_seq, n AS updated_seq`,
}

interface Index {
  name: string
  /** Columns and condition of the index. */
  about: string
  isConstraint: boolean
}

const INDEXES = `
  SELECT i.relname AS name, con.oid IS NOT NULL AS "isConstraint",
    regexp_replace(pg_get_indexdef(i.oid), '.* USING btree ', '') AS about
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid LEFT JOIN pg_constraint con ON con.conindid = i.oid
  WHERE x.indrelid = $1::regclass ORDER BY 1`

await runBench(async ({ home, onEnd }) => {
  const server = await startPostgres({ dataDir: join(home, 'pg') })
  onEnd(() => server.stop())
  await migrate(server.url)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  onEnd(() => client.end())
  const { pid } = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!

  /** µs of the backend for each row of a table without some of its indexes. The table is empty before and after. */
  const costOf = async (table: string, without: readonly Index[]): Promise<number> => {
    await client.query('BEGIN')
    for (const { name, isConstraint } of without)
      await client.query(
        isConstraint ? `ALTER TABLE ${table} DROP CONSTRAINT "${name}"` : `DROP INDEX "${name}"`,
      )
    const beforeMs = cpuMs([pid])
    for (let from = 0; from < ROWS; from += AT_ONCE)
      await client.query(
        `INSERT INTO ${table} (${await columnsOf(table)}) SELECT * FROM new_${table} OFFSET ${from} LIMIT ${AT_ONCE}`,
      )
    const ms = cpuMs([pid]) - beforeMs
    await client.query('ROLLBACK')
    return (ms * 1_000) / ROWS
  }
  const columnsOf = async (table: string): Promise<string> => {
    const { fields } = await client.query(`SELECT * FROM new_${table} LIMIT 0`)
    return fields.map(({ name }) => `"${name}"`).join(', ')
  }

  console.log(await describeMachine(server.url))
  const lines: string[][] = []
  for (const [table, columns] of Object.entries(TABLES)) {
    await client.query(
      `CREATE TABLE new_${table} AS SELECT ${columns} FROM generate_series(1::int8, ${ROWS}) n`,
    )
    const { rows: indexes } = await client.query<Index>(INDEXES, [table])
    const all: number[] = []
    const none: number[] = []
    const saved = indexes.map((): number[] => [])
    for (let run = 0; run < RUNS; run++) {
      all.push(await costOf(table, []))
      none.push(await costOf(table, indexes))
      for (const [i, index] of indexes.entries())
        saved[i]!.push(all.at(-1)! - (await costOf(table, [index])))
    }
    lines.push([table, '', median(all).toFixed(1)])
    lines.push(['', 'without an index', median(none).toFixed(1)])
    for (const [i, { name, about }] of indexes.entries())
      lines.push([name, about, median(saved[i]!).toFixed(1)])
  }
  console.log(`\nmedian of ${RUNS} times ${ROWS.toLocaleString('en')} registrations`)
  printTable([['', '', 'µs a row'], ...lines])
})
