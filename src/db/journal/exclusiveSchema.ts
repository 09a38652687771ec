import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { advisoryLockKeys } from '../pg/codes.js'

/**
 * Runs `work` with the name of a schema for it, under an advisory lock for this kind of work and network. The
 * connection is destroyed afterwards, because its search path and prepared statements fit no other work.
 * @param work creates the schema, which does not exist yet. Afterwards the schema is dropped with everything in it
 * @throws Error while another process does this kind of work in the network; errors of `work`
 */
export async function withTemporarySchema<T>(
  pool: pg.Pool,
  network: Network,
  kind: 'rewind' | 'replay',
  work: (client: pg.PoolClient, schema: string) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  const schema = `${kind}_${network}`
  const drop = () => client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  const keys = advisoryLockKeys(network, kind)
  let isLocked = false
  try {
    const { rows } = await client.query<{ locked: boolean }>(
      'SELECT pg_try_advisory_lock($1, $2) AS locked',
      keys,
    )
    isLocked = rows[0]!.locked
    if (!isLocked) throw new Error(`another ${kind} of ${network} is running: wait for it.`)
    // drops the schema that a killed run left
    await drop()
    return await work(client, schema)
  } finally {
    await client.query('ROLLBACK').catch(() => {})
    if (isLocked) {
      await drop().catch(() => {})
      await client.query('SELECT pg_advisory_unlock($1, $2)', keys).catch(() => {})
    }
    client.release(true)
  }
}
