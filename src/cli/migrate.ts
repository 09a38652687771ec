import { migrate } from '../db/pg/migrate.js'
import { withDatabase } from './database.js'

/** `clusterd migrate`: applies and prints the missing migrations. */
export async function migrateDatabase(): Promise<void> {
  const applied = await withDatabase((url) => migrate(url))
  for (const name of applied) console.log(`applied ${name}`)
  if (applied.length === 0) console.log('The database is up to date.')
}
