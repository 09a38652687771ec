import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import { type Postgres, startPostgres } from '../../src/testing/processes/postgres.js'
import { useFolder } from './folder.js'
import { startMigrated } from './migrated.js'

/** A server with an empty database for the tests of a file. Its port and URL are known once it has started. */
export function useServer(start = (dataDir: string) => startPostgres({ dataDir })): Pick<Postgres, 'port' | 'url'> {
  const home = useFolder()
  let server: Postgres
  beforeAll(async () => {
    server = await start(join(home, 'pg'))
  })
  afterAll(() => server?.stop())
  return {
    get port() {
      return server.port
    },
    get url() {
      return server.url
    },
  }
}

/** A migrated database for the tests of a file, filled by their SQL. */
export function useDatabase(connections = 4): { readonly pool: pg.Pool } & Pick<Postgres, 'port' | 'url'> {
  const server = useServer(startMigrated)
  let pool: pg.Pool
  beforeAll(() => {
    pool = createPool({ url: server.url, max: connections, applicationName: 'test' })
  })
  afterAll(() => pool?.end())
  return {
    get pool() {
      return pool
    },
    get port() {
      return server.port
    },
    get url() {
      return server.url
    },
  }
}
