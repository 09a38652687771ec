import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inTime } from '../../ops/notify.js'
import { ConnectingPool } from './connecting.js'
import { pipelined, pooled, socketOf } from './pipeline.js'
import {
  BEGIN,
  directSession,
  localSettings,
  pinSchema,
  pooledSession,
  type SessionLimits,
} from './session.js'
import { isReadOnly, NotReplicatedError } from './unavailable.js'

/** Blocks, entries and ms stay below 2^53 for good. @throws RangeError beyond */
export function parseInt8(value: string | bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`the database holds ${value} where a number below 2^53 belongs`)
  return number
}

/** Whole numbers come as numbers below 2^53, `numeric` columns (amounts) as bigints, bytea as Buffers. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary' && oid === pg.types.builtins.INT8) return parseInt8
    if (format !== 'binary' && oid === pg.types.builtins.NUMERIC) return BigInt
    return pg.types.getTypeParser(oid, format as 'text')
  }) as pg.CustomTypesConfig['getTypeParser'],
}

export interface PoolOptions extends Omit<SessionLimits, 'lockTimeoutMs'> {
  url: string
  max: number
  /** Shown in pg_stat_activity, with a suffix of the pool's own. */
  applicationName: string
  /** True if a pooler stands between: it knows no start-up parameter, and no statement by its name. */
  isPooled?: boolean
  /** Time limit of an answer and of a new connection; half of it is that of a lock; for what is asked again. */
  answerMs?: number
  /** Time limit of an answer alone. */
  queryLimitMs?: number
}

const connections = new WeakMap<pg.Pool, Set<pg.ClientBase>>()

/**
 * Closes all connections of a pool, whatever they wait for: their queries fail, and new ones take their place.
 * TCP tells nothing of connections that fell silent, as behind a proxy after a fail-over.
 */
export function dropConnections(pool: pg.Pool): void {
  for (const client of connections.get(pool) ?? []) socketOf(client).destroy()
}

/** Statements with which transactions of a pool begin. */
const begins = new WeakMap<pg.Pool, readonly string[]>()

/**
 * Time limit of waiting for a lock, ms; 0 for none. Nobody waits for a row as long as it may be held idle: else the
 * statements that a frozen process has sent would get the row one after the other, and each would hold it as long again.
 * PostgreSQL waits for a row in two stages, for the row's queue and for the transaction that has it, and limits each.
 */
function lockTimeoutOf({ answerMs, idleTransactionMs = 0 }: PoolOptions): number {
  if (answerMs !== undefined) return Math.ceil(answerMs / 2)
  return Math.floor(idleTransactionMs * LOCK_SHARE)
}

/** Two such limits are less than the time for which a lock may be held idle. */
const LOCK_SHARE = 0.45

/** Pools behind their views. */
const viewed = new WeakMap<pg.Pool, pg.Pool>()

/** The pool itself, of a pool or a view of it. */
export const poolBehind = (pool: pg.Pool): pg.Pool => viewed.get(pool) ?? pool

/** A view of a pool whose single queries go through a function; its transactions are the pool's. */
export function queryingBy(
  pool: pg.Pool,
  query: (config: pg.QueryConfig) => Promise<unknown>,
): pg.Pool {
  const view = new Proxy(pool, {
    get(target, key) {
      const value: unknown = key === 'query' ? query : Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  viewed.set(view, pool)
  if (pooled.has(pool)) pooled.add(view)
  return view
}

/** Silence of a client that froze in a transaction after which the server ends it. */
export const FROZEN_MS = 4_000
/** Time limit of a new connection, and of waiting for a free one. */
const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 5_000
/** Time limit of the farewell on a connection. */
const CLOSE_LIMIT_MS = 1_000

/** Makes the server notice a client that is gone; in a statement of its own what some platforms lack. */
const NOTICE_CLIENTS = [
  `SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '2', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '10s', false)`,
  `SET client_connection_check_interval = '2s'`,
]

/** Makes the server notice the end of this client, its host or the way to it. */
async function noticeClient(client: pg.ClientBase): Promise<void> {
  for (const setting of NOTICE_CLIENTS) await client.query(setting).catch(() => {})
}

/**
 * A pool of connections. The pool drops broken idle connections and replaces them at the next use, so an outage of
 * PostgreSQL shows as failing queries, never as a crash.
 * @param onError called for each idle connection that broke
 */
export function createPool(
  options: PoolOptions,
  onError: (error: Error) => void = () => {},
): pg.Pool {
  const { url, isPooled = false, answerMs } = options
  const applicationName = `${options.applicationName} ${randomBytes(4).toString('hex')}`
  const open = new Set<pg.ClientBase>()
  const limits = {
    ...options,
    lockTimeoutMs: lockTimeoutOf(options),
  }
  const config = {
    ...(isPooled
      ? pooledSession(url, applicationName)
      : directSession(url, applicationName, limits)),
    max: options.max,
    connectionTimeoutMillis: answerMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: options.queryLimitMs ?? answerMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types,
    // awaited before the connection is lent
    onConnect: async (client: pg.ClientBase): Promise<void> => {
      // The pool listens to idle connections only. An error event of one that is in use, between two queries, would end
      // the process; the next query reports it.
      client.on('error', () => {})
      open.add(client)
      if (isPooled) {
        pooled.add(client)
        return
      }
      await pinSchema(client)
      await noticeClient(client)
    },
  }
  const pool = new ConnectingPool(config)
  if (isPooled) pooled.add(pool)
  begins.set(pool, isPooled ? [BEGIN, localSettings(limits)] : [BEGIN])
  connections.set(pool, open)
  pool.on('remove', (client) => open.delete(client))
  pool.on('error', onError)
  return pool
}

/** A connection beside the pools. */
export interface ConnectionOptions {
  url: string
  /** Shown in pg_stat_activity. */
  applicationName: string
  /** Time limit of an answer; none where it is left out. */
  answerMs?: number
  /** True where it is asked whether a pooler stands between: the session states no settings then. */
  isProbe?: boolean
}

/** Time after which the server ends a statement whose answer nobody waits for any more. */
const LATE_MS = 1_000

/** Runs `work` on a connection of its own to the server; its end rolls back what was not committed. */
export async function onConnection<T>(
  { url, applicationName, answerMs, isProbe = false }: ConnectionOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const statementTimeoutMs = answerMs === undefined ? undefined : answerMs + LATE_MS
  const client = new pg.Client({
    ...(isProbe
      ? pooledSession(url, applicationName)
      : directSession(url, applicationName, { statementTimeoutMs })),
    connectionTimeoutMillis: answerMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  // the next query reports a broken connection; without a listener the process would end
  client.on('error', () => {})
  try {
    await client.connect()
    if (!isProbe) await pinSchema(client)
    return await work(client)
  } finally {
    await inTime(CLOSE_LIMIT_MS, client.end(), undefined)
  }
}

export async function isReachable(pool: pg.Pool): Promise<boolean> {
  return pool.query('SELECT 1').then(
    () => true,
    () => false,
  )
}

/** Number of connections that the server has left for roles that are no superuser. */
export async function freeConnections(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ free: number }>(
    `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
       - count(*)::int AS free FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  )
  return rows[0]!.free
}

/** Time that somebody waits for an outcome. */
export interface Patience {
  /** Fires when nobody waits any more. */
  signal: AbortSignal
  /** The time that is left, ms. */
  leftMs(): number
}

/**
 * Runs a READ COMMITTED transaction and releases its connection, destroyed if it broke, or leads to a server that only
 * reads, as one that was demoted.
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
    const begin = [
      ...(begins.get(poolBehind(pool)) ?? [BEGIN]),
      ...(patience ? [limitOf(patience)] : []),
    ]
    await pipelined(client, (db) => begin.map((text) => db.query(text)))
    const result = await work(client)
    patience?.signal.throwIfAborted()
    await commit(client)
    return result
  } catch (error) {
    // a connection that gives no answer would give none to this
    if (isReadOnly(error) || (error as Error).message === 'Query read timeout')
      broken = error as Error
    else
      await client.query('ROLLBACK').catch((rollback: Error) => {
        broken = rollback
      })
    throw error
  } finally {
    client.release(broken)
  }
}

/** @throws NotReplicatedError where somebody ended the wait for a synchronous standby: the server calls that success */
async function commit(client: pg.PoolClient): Promise<void> {
  let isReplicated = true
  const notice = ({ routine }: { routine?: string | undefined }) => {
    if (routine === 'SyncRepWaitForLSN') isReplicated = false
  }
  client.on('notice', notice)
  try {
    await client.query('COMMIT')
    if (!isReplicated)
      throw new NotReplicatedError('committed on this server alone: a fail-over may lose it')
  } finally {
    client.off('notice', notice)
  }
}

/** The time limit of each statement of a transaction; 0 would be none. */
const limitOf = ({ leftMs }: Patience): string =>
  `SET LOCAL statement_timeout = ${Math.max(1, Math.floor(leftMs()))}`
