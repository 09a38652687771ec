import fs from 'node:fs'
import path from 'node:path'
import type pg from 'pg'
import { ConfigError, readEnvironment } from '../config/index.js'
import { createPool } from '../db/pg/pool.js'

/**
 * Runs `work` on a command's database: DATABASE_DIRECT_URL, DATABASE_URL, else that of the local world in
 * CLUSTERD_HOME. The world's server is started for the duration where it doesn't run.
 * @throws ConfigError when there is neither
 */
export async function withDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { databaseDirectUrl, home } = readEnvironment()
  if (databaseDirectUrl !== undefined) return work(databaseDirectUrl)
  const dataDir = path.join(home, 'postgres')
  if (!fs.existsSync(dataDir)) {
    throw new ConfigError(
      `DATABASE_URL is not set, and ${home} holds no local world: set one of DATABASE_URL, CLUSTERD_HOME.`,
    )
  }
  const { createDatabase, startPostgres } = await import('../testing/processes/postgres.js')
  const server = await startPostgres({ dataDir })
  try {
    return await work(await createDatabase(server.url, 'clusterd'))
  } finally {
    if (!server.reused) await server.stop()
  }
}

/**
 * Runs `work` on the same database with a pool of connections, closed afterwards.
 * @param command shown by pg_stat_activity after `clusterd`
 */
export const withPool = <T>(
  { command, max = 2 }: { command: string; max?: number },
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> => withDatabase((url) => withPoolAt(url, { command, max }, work))

/** Runs `work` with a pool of connections to a database, closed afterwards. */
export async function withPoolAt<T>(
  url: string,
  { command, max = 2 }: { command: string; max?: number },
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  const pool = createPool({ url, max, applicationName: `clusterd ${command}` })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
