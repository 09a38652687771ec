import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { migrate } from '../src/db/pg/migrate.js'
import { createDatabase, dropDatabase, startPostgres } from '../src/testing/processes/postgres.js'

/**
 * Checks that the migrations, prisma/schema.prisma and (when one is named) a database agree: `tsx
 * scripts/schema-check.ts [--database postgresql://...]`. Prisma's own engine compares tables, columns, types and plain
 * indexes of schema and migrations. The engine does not see leaf partitions, partial indexes, checks and collations, so
 * PostgreSQL's catalog of a database is compared with that of the migrations.
 */

const SCHEMA_PATH = 'prisma/schema.prisma'
/**
 * Type id of PostgreSQL's one-byte type "char", which the engine's catalog queries use and the adapter does not know.
 */
const PG_CHAR_OID = 18
const PG_TEXT_OID = 25
/** ColumnTypeEnum.Character of @prisma/driver-adapter-utils. */
const CHARACTER_COLUMN = 6

/** Tables to ignore: the migrations' own table, and partitions that are themselves partitioned. */
const EXTERNAL_TABLES = ['public.migrations', 'public.journal_mainnet', 'public.journal_testnet']

/** Global object of Node. Its type is missing, because the compiler loads no types of browsers. */
declare const WebAssembly: {
  instantiate(
    wasm: Buffer,
    imports: object,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>
}

interface QueryResult {
  fields: { dataTypeID: number }[]
}
interface Adapter {
  queryRaw(query: unknown): Promise<{ columnTypes: number[] }>
  performIO(query: unknown): Promise<QueryResult>
}

/**
 * Compares the database of `url`, as `migrate` made it, with a Prisma schema.
 * @returns the SQL that would bring the database to the schema, empty when they agree
 */
export async function schemaDifference(url: string, schema: string): Promise<string> {
  const { SchemaEngine } = await loadEngine()
  const files = [{ path: SCHEMA_PATH, content: schema }]
  const factory = new EngineAdapter(connectionOf(url))
  const engine = await SchemaEngine.new(
    { datamodels: [[SCHEMA_PATH, schema]] },
    () => {},
    bindAdapter(factory),
  )
  try {
    const result = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: process.cwd() },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: EXTERNAL_TABLES, externalEnums: [] },
    })
    return result.exitCode === 0 ? '' : (result.stdout ?? '').trim()
  } finally {
    engine.free()
  }
}

/** Everything that migrations can set on the database's tables, one line per item, sorted. */
export async function describeCatalog(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const result = await client.query<{ line: string }>(CATALOG_SQL)
    return result.rows.map((row) => row.line).sort()
  } finally {
    await client.end()
  }
}

const CATALOG_SQL = `
  WITH ours AS (
    SELECT c.oid, c.relname, c.relkind, c.relispartition, pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND c.relname <> 'migrations'
      -- made by versions before 20261125000000_journal_rest
      AND c.relname !~ '^journal_(mainnet|testnet)_([2-9]|[1-9][0-9]+)$'
  )
  SELECT format('%s %s %s', relkind, relname, bound) AS line FROM ours
  UNION ALL
  SELECT format('column %s.%s %s %s %s %s', o.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                CASE WHEN a.attnotnull THEN 'not null' END, l.collname, pg_get_expr(d.adbin, d.adrelid))
  FROM ours o JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_collation l ON l.oid = a.attcollation
  LEFT JOIN pg_attrdef d ON d.adrelid = o.oid AND d.adnum = a.attnum
  UNION ALL
  SELECT pg_get_indexdef(i.indexrelid) FROM ours o JOIN pg_index i ON i.indrelid = o.oid
  UNION ALL
  SELECT format('constraint %s.%s %s', o.relname, k.conname, pg_get_constraintdef(k.oid))
  FROM ours o JOIN pg_constraint k ON k.conrelid = o.oid
  UNION ALL
  SELECT format('trigger %s %s', o.relname, pg_get_triggerdef(t.oid))
  FROM ours o JOIN pg_trigger t ON t.tgrelid = o.oid AND NOT t.tgisinternal
  UNION ALL
  SELECT format('function %s', pg_get_functiondef(p.oid))
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public' AND p.prokind IN ('f', 'p')`

/**
 * Runs the whole check on the server of `serverUrl`, in a database that is created and dropped.
 * @param databaseUrl a database that has to equal the one that the migrations create
 * @returns one item per difference; empty when all agree
 */
export async function checkSchema(serverUrl: string, databaseUrl?: string): Promise<string[]> {
  const name = `schema_check_${process.pid}_${Date.now()}`
  const url = await createDatabase(serverUrl, name)
  try {
    await migrate(url)
    const difference = await schemaDifference(url, fs.readFileSync(SCHEMA_PATH, 'utf8'))
    const problems =
      difference === ''
        ? []
        : [`migrations and ${SCHEMA_PATH} differ; to agree they lack:\n${difference}`]
    if (databaseUrl !== undefined) problems.push(...(await compareCatalogs(databaseUrl, url)))
    return problems
  } finally {
    await dropDatabase(serverUrl, name)
  }
}

async function compareCatalogs(databaseUrl: string, migratedUrl: string): Promise<string[]> {
  const database = await describeCatalog(databaseUrl)
  const migrated = await describeCatalog(migratedUrl)
  return [
    ...database
      .filter((line) => !migrated.includes(line))
      .map((line) => `only in the database: ${line}`),
    ...migrated
      .filter((line) => !database.includes(line))
      .map((line) => `only in the migrations: ${line}`),
  ]
}

/** Prisma's adapter, extended by the column type "char", which the engine's catalog queries need. */
class EngineAdapter extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect()
    const queryRaw: unknown = (query: unknown) => queryWithChars(adapter as never, query)
    return Object.assign(adapter, { queryRaw })
  }
}

async function queryWithChars(
  adapter: Adapter,
  query: unknown,
): Promise<{ columnTypes: number[] }> {
  const charColumns: number[] = []
  const performIO = async (inner: unknown) => {
    const result = await adapter.performIO(inner)
    result.fields.forEach((field, column) => {
      if (field.dataTypeID !== PG_CHAR_OID) return
      field.dataTypeID = PG_TEXT_OID
      charColumns.push(column)
    })
    return result
  }
  // one view of the adapter per query, so that concurrent queries don't mix up their columns
  const view = Object.create(adapter, { performIO: { value: performIO } }) as Adapter
  const original = (Object.getPrototypeOf(adapter) as Adapter).queryRaw
  const result = await original.call(view, query)
  for (const column of charColumns) result.columnTypes[column] = CHARACTER_COLUMN
  return result
}

/** Connection settings field by field: with a URL, Prisma's adapter would connect its shadow databases to `url`. */
function connectionOf(url: string): ConstructorParameters<typeof PrismaPg>[0] {
  const { host, port, user, database, password } = new pg.Client(url)
  return { host, port, user, database, password }
}

function bindAdapter(factory: PrismaPg): object {
  const require = createRequire(createRequire(import.meta.url).resolve('@prisma/adapter-pg'))
  const utils = require('@prisma/driver-adapter-utils') as {
    bindMigrationAwareSqlAdapterFactory(factory: PrismaPg): object
  }
  return utils.bindMigrationAwareSqlAdapterFactory(factory)
}

/**
 * Loads the engine by its second entry with a compiled module: the main entry imports a .wasm file, which Node can't
 * do.
 */
function loadEngine(): Promise<EngineModule> {
  loaded ??= instantiateEngine()
  return loaded
}

type EngineModule = typeof import('@prisma/schema-engine-wasm/schema_engine_bg')
/** One engine per process: a second instance would overwrite the memory of the first. */
let loaded: Promise<EngineModule> | undefined

async function instantiateEngine(): Promise<EngineModule> {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const file = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const wasm = fs.readFileSync(path.join(path.dirname(file), 'schema_engine_bg.wasm'))
  // the bindings report a panic through this global before they throw
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (text: string) => console.error(text) },
  })
  const { instance } = await WebAssembly.instantiate(wasm, {
    './schema_engine_bg.js': { ...bindings },
  })
  bindings.__wbg_set_wasm(instance.exports)
  const start = instance.exports.__wbindgen_start
  if (typeof start === 'function') start()
  return bindings
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { database: { type: 'string' } } })
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-schema-'))
  const server = await startPostgres({ dataDir: path.join(home, 'pg') })
  try {
    const problems = await checkSchema(server.url, values.database)
    for (const problem of problems) console.error(problem)
    if (problems.length === 0) console.log('migrations and schema agree')
    process.exitCode = problems.length === 0 ? 0 : 1
  } finally {
    await server.stop()
    fs.rmSync(home, { recursive: true, force: true })
  }
}

if (process.argv[1] === import.meta.filename) await main()
