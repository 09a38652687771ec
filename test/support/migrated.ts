import { execFile } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { migrate } from '../../src/db/pg/migrate.js'
import { lockFile } from '../../src/testing/processes/files.js'
import { type Postgres, startPostgres } from '../../src/testing/processes/postgres.js'
import { getSharedPostgresSetup } from '../../src/testing/processes/prepared.js'

const DEADLINE_MS = 60_000

/**
 * Starts a server whose database has its tables. Where the run has a template, the data directory is a copy, which takes a
 * tenth of making the tables. The first server of a run makes the template.
 */
export async function startMigrated(dataDir: string): Promise<Postgres> {
  const prepared = getSharedPostgresSetup()
  if (!prepared) return make(dataDir)
  const shared = `${prepared.template}-migrated`
  const lock = await lockFile(`${shared}.lock`, DEADLINE_MS)
  try {
    if (!existsSync(shared)) {
      const fresh = `${shared}.new`
      rmSync(fresh, { recursive: true, force: true })
      await (await make(fresh)).stop()
      renameSync(fresh, shared)
    }
  } finally {
    lock.release()
  }
  await promisify(execFile)('cp', ['-a', shared, dataDir])
  return startPostgres({ dataDir })
}

async function make(dataDir: string): Promise<Postgres> {
  const server = await startPostgres({ dataDir })
  await migrate(server.url)
  return server
}
