import { randomBytes } from 'node:crypto'
import pg from 'pg'
import '../../ops/connectAttemptTimeout.js'
import { withTimeout } from '../../ops/waiting.js'
import { connectionError, PoolWithClearErrors } from './connecting.js'
import { connectionsThroughPooler, inPipeline, type Queryable, socketOf } from './pipeline.js'
import {
  BEGIN_STATEMENT,
  directSessionConfig,
  pinSchema,
  poolerSessionConfig,
  type SessionLimits,
  transactionSettingsSql,
} from './session.js'
import {
  isBrokenConnectionError,
  isMomentaryError,
  isReadOnlyError,
  isStaleSessionError,
  NotReplicatedError,
} from './unavailable.js'

/**
 * Converts an int8. Block numbers, entry numbers and ms stay below 2^53 in practice.
 * @throws RangeError from 2^53 on
 */
function parseInt8(value: string | bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`the database holds ${value} where a number below 2^53 belongs`)
  return number
}

/** Result types: int8 as numbers below 2^53, `numeric` (amounts) as bigints, bytea as Buffers. */
const resultTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary' && oid === pg.types.builtins.INT8) return parseInt8
    if (format !== 'binary' && oid === pg.types.builtins.NUMERIC) return BigInt
    return pg.types.getTypeParser(oid, format as 'text')
  }) as pg.CustomTypesConfig['getTypeParser'],
}

export interface PoolOptions extends Omit<SessionLimits, 'lockTimeoutMs'> {
  url: string
  /** Maximum number of connections. */
  max: number
  /** Name in pg_stat_activity, to which the pool adds a suffix. */
  applicationName: string
  /** True if connections go through a pooler. A pooler supports neither start-up parameters nor named statements. */
  isPooled?: boolean
  /**
   * Timeout of an answer and of a new connection, ms. Locks time out after half of it. Set it only for work that is
   * retried, because slow statements fail.
   */
  answerMs?: number
  /** Timeout of a new connection, in place of `answerMs`, ms. */
  connectMs?: number
  /** Timeout of an answer, in place of `answerMs`, ms. */
  queryLimitMs?: number
}

const openConnections = new WeakMap<pg.Pool, Set<pg.ClientBase>>()

/**
 * Closes all connections of a pool, even busy ones. Their queries fail, and new connections take their place. Needed
 * after a fail-over behind a proxy, where TCP does not report dead connections.
 */
export function dropConnections(pool: pg.Pool): void {
  for (const client of openConnections.get(pool) ?? []) socketOf(client).destroy()
}

/** Statements that begin a transaction, by pool: BEGIN, and behind a pooler the session's settings. */
const beginStatements = new WeakMap<pg.Pool, readonly string[]>()
const beginStatementsOf = (pool: pg.Pool): readonly string[] =>
  beginStatements.get(pool) ?? [BEGIN_STATEMENT]

/**
 * Lock timeout, ms. It is half of `answerMs`. Without `answerMs` it is `LOCK_SHARE` of `idleTransactionMs`, the time
 * for which a frozen process may hold a lock, and without both it is 0 (none). With a longer timeout, the waiting
 * statements of a frozen process would get the row one after the other, and each would hold it for that time again.
 * PostgreSQL waits for a row in two stages, for the row's queue and for the transaction that holds it, and applies the
 * timeout to each.
 */
function lockTimeoutOf({ answerMs, idleTransactionMs = 0 }: PoolOptions): number {
  if (answerMs !== undefined) return Math.ceil(answerMs / 2)
  return Math.floor(idleTransactionMs * LOCK_SHARE)
}

/**
 * Lock timeout as a share of `idleTransactionMs`. Below one half, so that the two stages of a wait end before a frozen
 * process loses its lock.
 */
const LOCK_SHARE = 0.45

/** Makes a view of a pool that runs single queries by the function `query`, and transactions on the pool itself. */
export function poolWithQuery(
  pool: pg.Pool,
  query: (config: pg.QueryConfig) => Promise<unknown>,
): pg.Pool {
  const view = new Proxy(pool, {
    get(target, key) {
      const value: unknown = key === 'query' ? query : Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  beginStatements.set(view, beginStatementsOf(pool))
  if (connectionsThroughPooler.has(pool)) connectionsThroughPooler.add(view)
  return view
}

/** Time after which the server ends a transaction whose client is silent, ms. */
export const FROZEN_CLIENT_MS = 4_000
/** Timeout of a new connection, and of the wait for a free one, ms. */
const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 5_000
/** Timeout of the orderly close of a connection, ms. */
const CLOSE_LIMIT_MS = 1_000

/**
 * Statements that set how soon the server notices a dead client. A platform may not support all of the settings, so
 * each statement may fail alone.
 */
const DEAD_CLIENT_SETTINGS = [
  `SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '2', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '10s', false)`,
  `SET client_connection_check_interval = '2s'`,
]

/** Makes the server notice soon when this client, its host or the network path fails. */
async function makeServerNoticeDeadClient(client: pg.ClientBase): Promise<void> {
  for (const setting of DEAD_CLIENT_SETTINGS) await client.query(setting).catch(() => {})
}

/**
 * A pool of connections. It drops broken idle connections and opens new ones at the next use, so an outage of
 * PostgreSQL makes queries fail and never crashes the process.
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
      ? poolerSessionConfig(url, applicationName)
      : directSessionConfig(url, applicationName, limits)),
    max: options.max,
    connectionTimeoutMillis: options.connectMs ?? answerMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: options.queryLimitMs ?? answerMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: resultTypes,
    // the pool awaits `onConnect` before it uses the connection
    onConnect: async (client: pg.ClientBase): Promise<void> => {
      // The pool listens for errors of idle connections only. Without this listener, an error of a busy connection
      // between two queries ends the process. The next query reports it.
      client.on('error', () => {})
      open.add(client)
      if (isPooled) {
        connectionsThroughPooler.add(client)
        return
      }
      await pinSchema(client)
      await makeServerNoticeDeadClient(client)
    },
  }
  const pool = new PoolWithClearErrors(config)
  if (isPooled) connectionsThroughPooler.add(pool)
  beginStatements.set(
    pool,
    isPooled ? [BEGIN_STATEMENT, transactionSettingsSql(limits)] : [BEGIN_STATEMENT],
  )
  openConnections.set(pool, open)
  pool.on('remove', (client) => open.delete(client))
  pool.on('error', onError)
  repeatReads(pool)
  return pool
}

type SingleStatement = readonly [statement: string | pg.QueryConfig, values?: unknown[]]

/**
 * Makes a pool run a single statement again, on another connection, after a momentary failure. The pool drops the
 * connection on which the statement failed. The second attempt is a read-only transaction, in which PostgreSQL refuses
 * a statement that writes: then the first error is thrown.
 */
function repeatReads(pool: pg.Pool): void {
  const query: (...single: SingleStatement) => Promise<pg.QueryResult> = pool.query.bind(pool)
  const repeated = (...single: SingleStatement) =>
    query(...single).catch((error: Error) => {
      if (!isMomentaryError(error)) throw error
      return readAgain(pool, single, pool.idleCount).catch(() => {
        throw error
      })
    })
  pool.query = repeated as pg.Pool['query']
}

/**
 * Runs a statement in a read-only transaction. Tries again if the connection is broken, since idle connections often
 * break together.
 * @param attemptsLeft number of further attempts
 * @throws errors of PostgreSQL, also where the text writes or has several statements
 */
async function readAgain(
  pool: pg.Pool,
  [statement, values]: SingleStatement,
  attemptsLeft: number,
): Promise<pg.QueryResult> {
  const config: pg.QueryConfig = typeof statement === 'string' ? { text: statement } : statement
  const single = {
    ...config,
    values: values ?? config.values,
    // a prepared statement may be stale on this connection too
    name: '',
    // the driver's other mode takes several statements, of which one could end the transaction
    queryMode: 'extended',
  }
  try {
    return await inTransaction(pool, async (client) => {
      await client.query('SET TRANSACTION READ ONLY')
      return client.query(single)
    })
  } catch (error) {
    if (attemptsLeft > 0 && isBrokenConnectionError(error as Error))
      return readAgain(pool, [single], attemptsLeft - 1)
    throw error
  }
}

/** Options of a connection outside the pools. */
export interface ConnectionOptions {
  url: string
  /** Name in pg_stat_activity. */
  applicationName: string
  /** Timeout of an answer, ms. Absent: none. */
  answerMs?: number
  /**
   * True for the check whether a pooler stands between this process and PostgreSQL. Such a session changes no setting
   * and no search path.
   */
  isProbe?: boolean
}

/** How long after the client's timeout the server ends the statement too, ms. */
const SERVER_TIMEOUT_MARGIN_MS = 1_000

/**
 * Runs `work` on a new connection to the server. The end of the connection rolls back everything that was not
 * committed.
 * @throws DatabaseConnectionError; ForbiddenSchemaError where the role may not use the schema; errors of `work`
 */
export async function withConnection<T>(
  { url, applicationName, answerMs, isProbe = false }: ConnectionOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const statementTimeoutMs =
    answerMs === undefined ? undefined : answerMs + SERVER_TIMEOUT_MARGIN_MS
  const config = {
    ...(isProbe
      ? poolerSessionConfig(url, applicationName)
      : directSessionConfig(url, applicationName, { statementTimeoutMs })),
    connectionTimeoutMillis: answerMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
  const client = new pg.Client(config)
  // without a listener an error ends the process; the next query reports the broken connection
  client.on('error', () => {})
  try {
    await client.connect().catch((error: Error) => {
      throw connectionError(error, config)
    })
    if (!isProbe) await pinSchema(client)
    return await work(client)
  } finally {
    await withTimeout(CLOSE_LIMIT_MS, client.end(), undefined)
  }
}

/** How many more connections the server accepts from roles without privileges. */
export async function countFreeConnections(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ free: number }>(
    `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
       -- added in PostgreSQL 16
       - coalesce(current_setting('reserved_connections', true)::int, 0)
       - count(*)::int AS free FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  )
  return rows[0]!.free
}

/** Deadline of a caller that waits for a result. */
export interface Deadline {
  /** Fires when the caller no longer waits. */
  signal: AbortSignal
  /** Remaining time, ms. */
  leftMs(): number
}

/**
 * Runs a READ COMMITTED transaction and releases its connection. Destroys a connection that is of no more use: it
 * broke, did not answer, lost its prepared statements, or leads to a read-only server such as a demoted primary.
 */
export const inTransaction = <T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> => inPipelinedTransaction(pool, { reads: () => [], work })

/**
 * Sends COMMIT in the same round trip as the transaction's last statements. Allowed only if no result of those
 * statements decides whether to commit. PostgreSQL turns the COMMIT into a ROLLBACK if one of the statements fails.
 */
type CommitEarly = (db: Queryable) => Promise<void>

/** A transaction that reads, and then writes what depends on it, in two round trips. `inTransaction` takes four. */
export interface PipelinedTransaction<Reads extends readonly unknown[], T> {
  /**
   * Statements that are sent together with BEGIN. They may only read and lock, because they also run if BEGIN fails,
   * each in a transaction of its own.
   */
  reads: (db: Queryable) => readonly [...{ [Key in keyof Reads]: Promise<Reads[Key]> }]
  /**
   * Work of the transaction. It may call `commit` to save a round trip. Otherwise COMMIT follows once the work is done.
   * With `patience`, `commit` does nothing: the last statements may take longer than the caller waits, and then nothing
   * may be committed.
   */
  work: (client: pg.PoolClient, read: Reads, commit: CommitEarly) => Promise<T>
  /** After this deadline nothing is committed, and the server ends running statements. */
  patience?: Deadline | undefined
}

/** Like `inTransaction`, in fewer round trips. @throws errors of the reads, before `work` */
export async function inPipelinedTransaction<Reads extends readonly unknown[], T>(
  pool: pg.Pool,
  { reads, work, patience }: PipelinedTransaction<Reads, T>,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  let isCommitSent = false
  const commitEarly = async (db: Queryable): Promise<void> => {
    if (patience) return
    isCommitSent = true
    await commit(client, db)
  }
  try {
    patience?.signal.throwIfAborted()
    const begin = [...beginStatementsOf(pool), ...(patience ? [statementTimeoutSql(patience)] : [])]
    const [, ...read] = await inPipeline<[unknown, ...Reads]>(client, (db) => [
      Promise.all(begin.map((text) => db.query(text))),
      ...reads(db),
    ])
    const result = await work(client, read, commitEarly)
    patience?.signal.throwIfAborted()
    if (!isCommitSent) await commit(client, client)
    return result
  } catch (error) {
    // a connection that did not answer will not answer ROLLBACK either
    if (
      isReadOnlyError(error) ||
      isStaleSessionError(error) ||
      (error as Error).message === 'Query read timeout'
    )
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

/**
 * Sends COMMIT by `db`, which is the client or its pipeline.
 * @throws NotReplicatedError where somebody cancelled the wait for a synchronous standby, since the server then reports
 * success with a notice
 */
async function commit(client: pg.PoolClient, db: Queryable): Promise<void> {
  let isReplicated = true
  const notice = ({ routine }: { routine?: string | undefined }) => {
    if (routine === 'SyncRepWaitForLSN') isReplicated = false
  }
  client.on('notice', notice)
  try {
    await db.query('COMMIT')
    if (!isReplicated)
      throw new NotReplicatedError('committed on this server alone: a fail-over may lose it')
  } finally {
    client.off('notice', notice)
  }
}

/** SQL: sets the timeout of each statement of a transaction. At least 1 ms, since 0 means none. */
const statementTimeoutSql = ({ leftMs }: Deadline): string =>
  `SET LOCAL statement_timeout = ${Math.max(1, Math.floor(leftMs()))}`
