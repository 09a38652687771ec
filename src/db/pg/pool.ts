import pg from 'pg'

/** An int8 column as a number: blocks, entries and milliseconds stay below 2^53 for good. @throws RangeError beyond */
export function parseInt8(value: string | bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`the database holds ${value} where a number below 2^53 belongs`)
  return number
}

const INT8_OID = 20
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID && format !== 'binary'
      ? parseInt8
      : pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
}

export interface PoolOptions {
  url: string
  max: number
  /** Shown in pg_stat_activity. */
  applicationName: string
  /** Time limit of a statement; 0 for none (catch-up, replay). */
  statementTimeoutMs?: number
}

/**
 * A pool of connections. The pool drops broken idle connections and replaces them at the next use, so an outage of
 * PostgreSQL shows as failing queries, never as a crash.
 * @param onError called for each idle connection that broke
 */
export function createPool(options: PoolOptions, onError: (error: Error) => void = () => {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: options.statementTimeoutMs ?? 0,
    keepAlive: true,
    types,
  })
  pool.on('error', onError)
  // The pool listens to idle connections only. An error event of one that is in use, between two queries, would end the
  // process; the next query reports it.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Whether the database answers. */
export async function isReachable(pool: pg.Pool): Promise<boolean> {
  return pool.query('SELECT 1').then(
    () => true,
    () => false,
  )
}

/** Lets the current transaction commit without waiting for the disk: a crash of the server may lose it, whole. */
export async function commitWithoutFlush(client: pg.ClientBase): Promise<void> {
  await client.query('SET LOCAL synchronous_commit = off')
}

/** Runs `work` in one READ COMMITTED transaction and releases its connection, destroyed if it broke. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((rollback: Error) => {
      broken = rollback
    })
    throw error
  } finally {
    client.release(broken)
  }
}
