import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { withConnection } from '../pg/pool.js'

/** SQLSTATE of insufficient privileges. */
const FORBIDDEN_CODE = '42501'

/**
 * Runs `work` on a new empty database of the same server, and drops the database afterwards with all its sessions.
 * @param work gets the database's URL
 * @throws Error where the role may not create a database
 */
export async function withScratchDatabase<T>(
  url: string,
  work: (scratchUrl: string) => Promise<T>,
): Promise<T> {
  const name = `clusterd_scratch_${randomBytes(4).toString('hex')}`
  const run = (sql: string) =>
    withConnection({ url, applicationName: 'clusterd scratch' }, (client) => client.query(sql))
  await run(`CREATE DATABASE ${name} TEMPLATE template0`).catch((error: pg.DatabaseError) => {
    if (error.code !== FORBIDDEN_CODE) throw error
    throw new Error(
      `the role may make no database (${error.message}): run \`ALTER ROLE … CREATEDB\`, or name another server in DATABASE_URL.`,
    )
  })
  try {
    return await work(Object.assign(new URL(url), { pathname: `/${name}` }).href)
  } finally {
    await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  }
}

/** True if the database of a URL has the table `journal` in the schema that the URL's sessions use. */
export async function hasJournal(url: string): Promise<boolean> {
  const text = `SELECT to_regclass('journal') IS NOT NULL AS found`
  const { rows } = await withConnection({ url, applicationName: 'clusterd backup' }, (client) =>
    client.query<{ found: boolean }>(text),
  )
  return rows[0]!.found
}
