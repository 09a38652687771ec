import type pg from 'pg'

/** Tables that no run changes, or that belong to the server. */
const KEPT = ['leaders', 'deployment', '_prisma_migrations']

/** Saves the present contents of all tables. @returns a function that restores them, in some ms */
export async function keepTables(pool: pg.Pool): Promise<() => Promise<void>> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname <> ALL ($1)`,
    [KEPT],
  )
  const names = rows.map(({ name }) => name)
  const copies = names.map((name) => `CREATE TABLE kept."${name}" AS TABLE public."${name}"`)
  await pool.query(['CREATE SCHEMA kept', ...copies].join(';'))
  const filled: string[] = []
  for (const name of names)
    if ((await pool.query(`SELECT FROM kept."${name}" LIMIT 1`)).rowCount) filled.push(name)
  const restore = [
    'BEGIN',
    // so that triggers do not count restored rows
    'SET LOCAL session_replication_role = replica',
    ...names.map((name) => `DELETE FROM public."${name}"`),
    ...filled.map((name) => `INSERT INTO public."${name}" SELECT * FROM kept."${name}"`),
    'COMMIT',
  ].join(';')
  return async () => {
    await pool.query(restore)
  }
}
