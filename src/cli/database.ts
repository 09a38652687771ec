import fs from 'node:fs'
import path from 'node:path'
import type pg from 'pg'
import { ConfigError, readEnvironment } from '../config/index.js'
import { createPool } from '../db/pg/pool.js'

/**
 * Does `work` on the database that a command means: DATABASE_URL, else that of the local world in CLUSTERD_HOME, whose
 * server is started for as long as the work takes when the world isn't running.
 * @throws ConfigError when there is neither
 */
export async function withDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { databaseUrl, home } = readEnvironment()
  if (databaseUrl !== undefined) return work(databaseUrl)
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

/** The same with a pool of connections, ended afterwards. @param command as pg_stat_activity shows it, after `clusterd` */
export const withPool = <T>(
  { command, max = 2 }: { command: string; max?: number },
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> =>
  withDatabase(async (url) => {
    const pool = createPool({ url, max, applicationName: `clusterd ${command}` })
    try {
      return await work(pool)
    } finally {
      await pool.end()
    }
  })
