import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { SilenceWatch } from './silence.js'

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
  /** Shown in pg_stat_activity, with a suffix of the pool's own. */
  applicationName: string
  /** Time limit of a statement; none where it is left out (catch-up, replay). */
  statementTimeoutMs?: number
  /** Time limit of the server for a client that holds a transaction open and says nothing; none where it is left out. */
  idleTransactionMs?: number
  /** Time after which a connection whose server says nothing is given up; none where it is left out. */
  silenceLimitMs?: number
}

/** Time limit of a new connection, and of waiting for a free one. */
const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 5_000

/** Makes the server notice a client that is gone; in a statement of its own what some platforms lack. */
const NOTICE_CLIENTS = [
  `SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '2', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '10s', false)`,
  `SET client_connection_check_interval = '2s'`,
]

/** Makes the server notice the end of this client, its host or the way to it. */
export async function noticeClient(client: pg.ClientBase): Promise<void> {
  for (const setting of NOTICE_CLIENTS) await client.query(setting).catch(() => {})
}

/**
 * A pool of connections. The pool drops broken idle connections and replaces them at the next use, so an outage of
 * PostgreSQL shows as failing queries, never as a crash; connections that fall silent are found and closed.
 * @param onError called for each idle connection that broke
 */
export function createPool(options: PoolOptions, onError: (error: Error) => void = () => {}): pg.Pool {
  const applicationName = `${options.applicationName} ${randomBytes(4).toString('hex')}`
  const config = {
    connectionString: options.url,
    max: options.max,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    statement_timeout: options.statementTimeoutMs ?? 0,
    idle_in_transaction_session_timeout: options.idleTransactionMs ?? 0,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types,
    // awaited before the connection is lent; the driver's types lack it
    onConnect: async (client: pg.PoolClient): Promise<void> => {
      // The pool listens to idle connections only. An error event of one that is in use, between two queries, would end
      // the process; the next query reports it.
      client.on('error', () => {})
      watch.add(client)
      await noticeClient(client)
    },
  }
  const pool = new pg.Pool(config)
  const watch = new SilenceWatch(pool, { url: options.url, applicationName, limitMs: options.silenceLimitMs })
  pool.on('error', onError)
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

/** How long somebody waits for an outcome. */
export interface Patience {
  /** Fires when nobody waits any more. */
  signal: AbortSignal
  /** The time that is left, ms. */
  leftMs(): number
}

/**
 * Runs `work` in one READ COMMITTED transaction and releases its connection, destroyed if it broke.
 * @param patience nothing is committed after its end, and no statement runs longer
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  patience?: Patience,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    patience?.signal.throwIfAborted()
    await client.query(patience ? `BEGIN; ${limitOf(patience)}` : 'BEGIN')
    const result = await work(client)
    patience?.signal.throwIfAborted()
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

/** The time limit of each statement of a transaction; 0 would be none. */
const limitOf = ({ leftMs }: Patience): string => `SET LOCAL statement_timeout = ${Math.max(1, Math.floor(leftMs()))}`
