import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { count, outage, type Site, type Weather, withOne } from './site.js'

/** Setting of the server with which the trigger below refuses rows, like a full disk. */
const FULL = 'chaos.disk_full'
const READ_ONLY = 'default_transaction_read_only'
/** Settings of the server with which no row can be written. */
export const REFUSING_SETTINGS = [FULL, READ_ONLY]

/**
 * Prepares the disruption "full disk". PostgreSQL has no quota, and a small file system needs root. So a trigger of
 * every table refuses rows with the error of a full disk while a setting is on. Write-ahead log and temporary files are
 * not affected.
 */
export async function prepareFullDisk(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE FUNCTION chaos_disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('${FULL}', true) = 'on' THEN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
      END IF;
      RETURN NEW;
    END $$`)
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
  )
  for (const { name } of rows)
    await pool.query(
      `CREATE TRIGGER chaos_disk_full BEFORE INSERT OR UPDATE ON ${name} FOR EACH ROW EXECUTE FUNCTION chaos_disk_full()`,
    )
}

/** Turns a setting of the whole server on for the time of an outage. */
const withSetting =
  (setting: string, kind: string, said: string): Weather =>
  (site) =>
    withOne(site, [site.world.stack.postgres!], async () => {
      await change(site, `ALTER SYSTEM SET ${setting} = 'on'`)
      count(site, kind)
      await outage(site)
      await change(site, `ALTER SYSTEM RESET ${setting}`)
      return said
    })

/** Changes the server's settings, which every session sees at once. */
async function change({ world }: Site, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: world.stack.databaseUrl })
  await client.connect()
  try {
    await client.query(statement)
    await client.query('SELECT pg_reload_conf()')
  } finally {
    await client.end()
  }
}

export const fullDisk = withSetting(FULL, 'full disks', 'the disk of the database was full')
export const readOnlyDatabase = withSetting(
  READ_ONLY,
  'read-only databases',
  'the database was read-only',
)

const YEAR_MS = 365 * 86_400_000
const PRELOAD = fileURLToPath(new URL('../../support/clockAhead.mjs', import.meta.url))
/** Environment of a process whose clock is a year ahead. */
export const A_YEAR_AHEAD = { NODE_OPTIONS: `--import ${PRELOAD}`, CLOCK_AHEAD_MS: String(YEAR_MS) }
