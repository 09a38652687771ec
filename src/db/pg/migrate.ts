import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { FatalError } from '../../ops/worker.js'
import { withConnection } from './pool.js'
import { type Queryable, readRows } from './rows.js'
import { inTransactionWithRetries } from './tries.js'
import { isLockTimeoutError } from './unavailable.js'

/** Key of the advisory lock under which one process at a time migrates a database: "migr" in ASCII. */
const MIGRATION_LOCK_KEY = 0x6d696772
/** Timeout of each query of `compareSchema`. The queries read small tables. */
const COMPARE_TIMEOUT_MS = 15_000
/** Timeout of a statement's wait for a lock. While a migration waits, everybody else waits behind it for the table. */
const LOCK_TIMEOUT_MS = 1_500
/** Table of the applied migrations, each with the SHA-256 of its file in hex. */
const MIGRATIONS_TABLE = 'migrations'

interface Migration {
  name: string
  sql: string
  checksum: string
}

/**
 * Name of a contract step: a migration that removes tables or columns. The name ends with the number of an earlier
 * migration. Versions that have the earlier migration no longer use the removed tables and columns.
 */
const CONTRACT_STEP_PATTERN = /_contract_(\d+)$/

/** Migrations that only the database or only this version has. */
export interface SchemaDifference {
  /** Migrations that the database does not have. */
  missing: string[]
  /** Migrations of a newer version that do not prevent this version from running. */
  newer: string[]
}

/** The database does not have all migrations, and this process may not apply them. */
export class SchemaBehindError extends Error {
  override name = 'SchemaBehindError'
  constructor(missing: readonly string[]) {
    super(
      `the database does not have the migrations ${missing.join(', ')}: run \`clusterd migrate\``,
    )
  }
}

/** `prisma/migrations` of this package, three levels up from `src/db/pg` and from `dist/db/pg`. */
export const MIGRATIONS_DIR = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

/**
 * Applies the migrations of `dir` that the database of `url` does not have, in the order of their names. Each runs in a
 * transaction, for a new database all in one. Retries while other sessions use the tables. Concurrent callers wait for
 * each other. An up-to-date database is only read: it may be a standby, and the role may have no right to create
 * tables.
 * @returns names of the migrations applied now; empty when the database was up to date
 * @throws Error when an applied migration was edited, or belongs to a version that this version can't run beside; when
 * the role may not migrate; when other sessions use the tables for about a minute; and when SQL fails. Then nothing of
 * the failed migration is applied
 */
export async function migrate(url: string, dir = MIGRATIONS_DIR): Promise<string[]> {
  return withConnection(connectionTo(url), async (client) => {
    const applied: string[] = []
    while ((await compareMigrations(client, dir)).missing.length > 0)
      applied.push(...(await inTransactionWithRetries(client, () => applyNext(client, dir))))
    return applied
  })
}

async function applyNext(client: pg.Client, dir: string): Promise<string[]> {
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK_KEY])
  await client
    .query(`CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
    .catch(explainForbidden)
  const { missing, isNew } = await compareMigrations(client, dir)
  const next = isNew ? missing : missing.slice(0, 1)
  for (const migration of next) await applyMigration(client, migration)
  return next.map(({ name }) => name)
}

/** SQLSTATEs for a role that may not create tables, and for a read-only database. */
const FORBIDDEN_CODES = ['42501', '25006']

function explainForbidden(error: pg.DatabaseError): never {
  if (!FORBIDDEN_CODES.includes(error.code ?? '')) throw error
  throw new Error(
    `migrating: the database does not have migrations, and ${error.message}: run \`clusterd migrate\` as its owner`,
  )
}

/**
 * Compares the database's migrations with those of `dir`, without changes to the database.
 * @throws Error when an applied migration was edited; FatalError when this version can't run on the database
 */
export async function compareSchema(
  url: string,
  dir: string = MIGRATIONS_DIR,
): Promise<SchemaDifference> {
  const work = async (client: pg.Client) => {
    const { missing, newer } = await compareMigrations(client, dir)
    return { missing: missing.map(({ name }) => name), newer }
  }
  return withConnection({ ...connectionTo(url), answerMs: COMPARE_TIMEOUT_MS }, work)
}

const connectionTo = (url: string) => ({ url, applicationName: 'clusterd migrate' })

async function compareMigrations(client: pg.Client, dir: string) {
  const migrations = readMigrations(dir)
  const missing = new Map(migrations.map((migration) => [migration.name, migration]))
  const { rows: tables } = await client.query<{ found: boolean }>(
    `SELECT to_regclass('${MIGRATIONS_TABLE}') IS NOT NULL AS found`,
  )
  if (!tables[0]!.found) return { missing: migrations, newer: [], isNew: true }
  const { rows } = await client.query<Omit<Migration, 'sql'>>(
    `SELECT name, checksum FROM ${MIGRATIONS_TABLE} ORDER BY name`,
  )
  const newer: string[] = []
  for (const { name, checksum } of rows) {
    const migration = missing.get(name)
    if (!migration) newer.push(name)
    else if (migration.checksum !== checksum)
      throw new Error(
        `migrating: ${name} was edited after it was applied; restore the file, add a new migration instead`,
      )
    missing.delete(name)
  }
  checkNewerMigrations(newer, migrations.at(-1)?.name, [...missing.keys()])
  return { missing: [...missing.values()], newer, isNew: rows.length === 0 }
}

/**
 * Creates a check for a running process. The migrations' names are read once: an upgrade in place replaces their files.
 * @returns function that throws FatalError once this version can't run on the database any more
 */
export function createSchemaCheck(db: Queryable): () => Promise<void> {
  const newest = readMigrations(MIGRATIONS_DIR).at(-1)!.name
  const text = `SELECT name FROM ${MIGRATIONS_TABLE} WHERE name > $1`
  return async () => {
    const rows = await readRows<Pick<Migration, 'name'>>(db, text, [newest])
    checkNewerMigrations(
      rows.map(({ name }) => name),
      newest,
      [],
    )
  }
}

/**
 * Checks that this version can run on a database that a newer version has migrated. Newer migrations may add tables and
 * columns. A contract step (`CONTRACT_STEP_PATTERN`) must not have removed a table or column that this version uses.
 * @param newer names of applied migrations that this version does not have
 * @param newest name of this version's last migration
 * @param missing names of this version's migrations that are not applied
 * @throws FatalError where this version can't run on the database
 */
function checkNewerMigrations(
  newer: readonly string[],
  newest: string | undefined,
  missing: readonly string[],
): void {
  const last = migrationNumber(newest ?? '')
  const step = newer.find((name) => Number(CONTRACT_STEP_PATTERN.exec(name)?.[1] ?? 0) > last)
  if (step)
    throw new FatalError(
      `migrating: migration ${step} removed what this version uses; run the newer version`,
    )
  const other = newer.find((name) => migrationNumber(name) <= last || missing.length > 0)
  if (other)
    throw new FatalError(
      `migrating: the database has migration ${other}, unknown to this version; run the newer version`,
    )
}

const migrationNumber = (name: string): number => Number(/^\d+/.exec(name)?.[0] ?? 0)

function readMigrations(dir: string): Migration[] {
  const names = fs
    .readdirSync(dir)
    .filter((name) => fs.existsSync(path.join(dir, name, 'migration.sql')))
  return names.sort().map((name) => {
    const bytes = fs.readFileSync(path.join(dir, name, 'migration.sql'))
    return {
      name,
      sql: bytes.toString('utf8'),
      checksum: createHash('sha256').update(bytes).digest('hex'),
    }
  })
}

async function applyMigration(
  client: pg.Client,
  { name, sql, checksum }: Migration,
): Promise<void> {
  await client.query(sql).catch((error: Error) => {
    throw isLockTimeoutError(error)
      ? error
      : new Error(`applying migration ${name}: ${error.message}`)
  })
  await client.query(`INSERT INTO ${MIGRATIONS_TABLE} (name, checksum) VALUES ($1, $2)`, [
    name,
    checksum,
  ])
}
