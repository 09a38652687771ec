import { compareSchema, migrate } from '../db/pg/migrate.js'
import { withDatabaseUrl } from './database.js'

/**
 * `clusterd migrate`: applies missing migrations of the database. With `--check` it only lists them, and exits with 1
 * if any is missing.
 */
export async function migrateDatabase({ check = false }: { check?: boolean }): Promise<void> {
  const { missing, newer } = await withDatabaseUrl(async (url) => {
    const difference = await compareSchema(url)
    if (check && difference.missing.length > 0) process.exitCode = 1
    return check ? difference : { ...difference, missing: await migrate(url) }
  })
  for (const name of missing) console.log(`${check ? 'missing' : 'applied'} ${name}`)
  if (newer.length > 0)
    console.log(`The database is newer than this version, which works on it: ${newer.join(', ')}.`)
  else if (missing.length === 0) console.log('The database is up to date.')
}
