import { migrate, missingMigrations } from '../db/pg/migrate.js'
import { withDatabase } from './database.js'

/** `clusterd migrate`: applies and prints the missing migrations; with `check`, prints them only. */
export async function migrateDatabase({ check = false }: { check?: boolean }): Promise<void> {
  const names = await withDatabase((url) => (check ? missingMigrations(url) : migrate(url)))
  for (const name of names) console.log(`${check ? 'missing' : 'applied'} ${name}`)
  if (names.length === 0) console.log('The database is up to date.')
}
