import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import type { Postgres } from '../../src/testing/processes/postgres.js'
import { startMigrated } from '../support/migrated.js'

/** A migrated database for the tests of a file, filled by their SQL. */
export function useDatabase(): { readonly pool: pg.Pool; readonly url: string } {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-storage-'))
  let postgres: Postgres
  let pool: pg.Pool
  beforeAll(async () => {
    postgres = await startMigrated(join(home, 'pg'))
    pool = createPool({ url: postgres.url, max: 4, applicationName: 'test' })
  })
  afterAll(async () => {
    await pool.end()
    await postgres.stop()
    rmSync(home, { recursive: true, force: true })
  })
  return {
    get pool() {
      return pool
    },
    get url() {
      return postgres.url
    },
  }
}
