import { join } from 'node:path'
import type pg from 'pg'
import { createPool, withConnection } from '../../src/db/pg/pool.js'
import { type Postgres, startPostgres } from '../../src/testing/processes/postgres.js'
import { useFolder } from './folder.js'
import { startMigrated } from './migrated.js'
import { useWorld } from './useWorld.js'

/** A server with an empty database for the tests of a file. */
export function useServer(start = (dataDir: string) => startPostgres({ dataDir })): Postgres {
  const home = useFolder()
  return useWorld(() => start(join(home, 'pg')))
}

/** A migrated database for the tests of a file, filled by their SQL. */
export function useDatabase(connections = 4): Pick<Postgres, 'url' | 'port'> & { pool: pg.Pool } {
  const server = useServer(startMigrated)
  return useWorld(async () => {
    const pool = createPool({ url: server.url, max: connections, applicationName: 'test' })
    return { pool, url: server.url, port: server.port, stop: () => pool.end() }
  })
}

/** Runs a statement by a connection of its own. */
export async function queryOn<Row>(url: string, sql: string): Promise<Row[]> {
  let rows: Row[] = []
  await withConnection({ url, applicationName: 'test' }, async (client) => {
    rows = (await client.query(sql)).rows
  })
  return rows
}
