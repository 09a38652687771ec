import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Network } from '../../../registry/primitives/network.js'
import { lockKeys } from '../../pg/codes.js'

/** Timeout of the table locks, retried; below PostgreSQL's deadlock_timeout (1 s), so that no reader is cancelled. */
const LOCK_TIMEOUT_MS = 500
/** That of a lock which only such as VACUUM wait for; above deadlock_timeout, when PostgreSQL ends an autovacuum. */
const VACUUM_TIMEOUT_MS = 2_000
const SWITCH_TRIES = 60
/** Each takes a second (deadlock_timeout) or more. */
const DEADLOCK_TRIES = 10
const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/**
 * Runs work that replaces tables of a network beside which nothing else may: a rewind. Its
 * connection is destroyed afterwards, not pooled: search path and prepared statements belong to the work.
 * @param schema removed at the end, with what the work has left there
 * @throws Error while another such work of the network runs
 */
export async function alone<T>(
  pool: pg.Pool,
  { network, schema }: { network: Network; schema: string },
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  const lock = lockKeys(network, 'rewind')
  let isLocked = false
  try {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS locked', [...lock])
    isLocked = rows[0]!.locked
    if (!isLocked) throw new Error(`another rewind of ${network} is running: wait for it.`)
    return await work(client)
  } finally {
    await client.query('ROLLBACK').catch(() => {})
    if (isLocked) {
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).catch(() => {})
      await client.query('SELECT pg_advisory_unlock($1, $2)', [...lock]).catch(() => {})
    }
    client.release(true)
  }
}

/** Does a transaction anew that PostgreSQL ended since others and it waited for each other. */
export async function despiteDeadlocks<T>(client: pg.ClientBase, transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction()
    } catch (error) {
      if ((error as pg.DatabaseError).code !== DEADLOCK || tries === DEADLOCK_TRIES) throw error
      await client.query('ROLLBACK')
    }
  }
}

/**
 * Replaces tables in one transaction with brief locks, tried again while others keep the tables locked.
 * @param tables that `work` locks and an autovacuum may keep, with their schema
 */
export async function switchInTries<T>(
  client: pg.ClientBase,
  tables: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query('BEGIN')
      await client.query(`SET LOCAL lock_timeout = ${VACUUM_TIMEOUT_MS}`)
      await client.query(`LOCK TABLE ONLY ${tables.join(', ONLY ')} IN SHARE UPDATE EXCLUSIVE MODE`)
      await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
      const done = await work()
      await client.query('COMMIT')
      return done
    } catch (error) {
      await client.query('ROLLBACK')
      const code = (error as pg.DatabaseError).code
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) throw error
      if (tries === SWITCH_TRIES)
        throw new Error('somebody keeps the tables locked (a replay, a dump, a VACUUM?): end it and try again.', {
          cause: error,
        })
      // writers that waited for this try go on before the next
      await sleep(LOCK_TIMEOUT_MS)
    }
  }
}
