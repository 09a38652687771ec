import { createHash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/** The advisory lock that Prisma's CLI takes, so that the two exclude each other. */
const PRISMA_LOCK_ID = 72_707_369
const LOCK_TIMEOUT_MS = 60_000
const LOCK_NOT_AVAILABLE = '55P03'

/** The table as Prisma's CLI creates it. */
const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`

interface Migration {
  name: string
  sql: string
  /** SHA-256 of the file's bytes, in hex, as Prisma stores it. */
  checksum: string
}

interface AppliedRow {
  migration_name: string
  checksum: string
  finished_at: Date | null
}

/** `prisma/migrations` of this package: the same two levels up from `src/db` and from `dist/db`. */
export const MIGRATIONS_DIR = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

/**
 * Applies the migrations of `dir` that the database of `url` lacks, in the order of their names, each in a transaction of
 * its own, and records them as `prisma migrate deploy` does. Any number of callers at once: one works, the others wait.
 * @returns the names applied now, none when the database was up to date
 * @throws when an applied migration was edited, had failed, or is unknown here (a newer version's database); when a
 *   migration's SQL fails (nothing of it stays)
 */
export async function migrate(url: string, dir: string = MIGRATIONS_DIR): Promise<string[]> {
  const migrations = readMigrations(dir)
  const client = new pg.Client({ connectionString: url })
  // a connection that breaks is told by the next query; without a listener it would end the process
  client.on('error', () => {})
  await client.connect()
  try {
    await lockOut(client)
    await client.query(CREATE_TABLE)
    const missing = await findMissing(client, migrations)
    for (const migration of missing) await apply(client, migration)
    return missing.map((migration) => migration.name)
  } finally {
    await client.end() // the session's end gives the advisory lock back
  }
}

function readMigrations(dir: string): Migration[] {
  return fs
    .readdirSync(dir)
    .filter((name) => fs.existsSync(path.join(dir, name, 'migration.sql')))
    .sort()
    .map((name) => {
      const bytes = fs.readFileSync(path.join(dir, name, 'migration.sql'))
      return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') }
    })
}

async function lockOut(client: pg.Client): Promise<void> {
  await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`)
  try {
    await client.query('SELECT pg_advisory_lock($1)', [PRISMA_LOCK_ID])
  } catch (error) {
    if ((error as pg.DatabaseError).code !== LOCK_NOT_AVAILABLE) throw error
    throw new Error(`migrating: another process has been migrating this database for ${LOCK_TIMEOUT_MS / 1_000} s`)
  }
}

/** Compares what the database says was applied with the files; the files not applied yet. */
async function findMissing(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const result = await client.query<AppliedRow>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  )
  const byName = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const row of result.rows) checkApplied(row, byName.get(row.migration_name))
  const applied = new Set(result.rows.map((row) => row.migration_name))
  return migrations.filter((migration) => !applied.has(migration.name))
}

function checkApplied(row: AppliedRow, migration: Migration | undefined): void {
  const name = row.migration_name
  if (!migration) {
    throw new Error(`migrating: the database has migration ${name}, unknown to this version; run the newer version`)
  }
  if (row.finished_at === null) {
    throw new Error(`migrating: ${name} failed earlier; repair the database, then delete its _prisma_migrations row`)
  }
  if (row.checksum !== migration.checksum) {
    throw new Error(`migrating: ${name} was edited after it was applied; restore the file, add a new migration instead`)
  }
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(sql)
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    )
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw new Error(`applying migration ${name}: ${(error as Error).message}`)
  }
}
