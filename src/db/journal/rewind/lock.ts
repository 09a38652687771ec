import type pg from 'pg'

/** Timeout of the table locks, retried; below PostgreSQL's deadlock_timeout (1 s), so that no reader is cancelled. */
const LOCK_TIMEOUT_MS = 500
/** That of a lock which only such as VACUUM wait for; above deadlock_timeout, when PostgreSQL ends an autovacuum. */
const VACUUM_TIMEOUT_MS = 2_000

/** Makes a transaction wait for locks of live tables briefly, and takes from them what an autovacuum may keep. */
export async function lockBriefly(client: pg.ClientBase, tables: readonly string[]): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${VACUUM_TIMEOUT_MS}`)
  await client.query(`LOCK TABLE ONLY ${tables.join(', ONLY ')} IN SHARE UPDATE EXCLUSIVE MODE`)
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
}
