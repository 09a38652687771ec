import pg from 'pg'
import { describeDatabaseError } from '../../ops/logger/databaseErrors.js'

/** A connection was not established. The message names the server, and `code` is the code of the cause. */
export class DatabaseConnectionError extends Error {
  override name = 'DatabaseConnectionError'
  readonly code: string | undefined

  constructor(message: string, cause: Error) {
    super(message, { cause })
    this.code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  }
}

const POOL_TIMEOUT_MESSAGE = 'timeout exceeded when trying to connect'
const TIMEOUT_PATTERN = /timeout/

/**
 * Builds an error that names the server and the reason, because the messages of `pg` and Node name no server, or hold
 * the URL's password.
 */
export function connectionError(cause: Error, config: pg.PoolConfig): DatabaseConnectionError {
  const { max, application_name: name, connectionTimeoutMillis = 0 } = config
  const seconds = connectionTimeoutMillis / 1_000
  if (cause.message === POOL_TIMEOUT_MESSAGE)
    return new DatabaseConnectionError(
      `no connection within ${seconds} s: all ${max} of the pool "${name}" are in use, or the database at ${hostAndPortOf(config)} takes none`,
      cause,
    )
  const code = 'code' in cause ? String(cause.code) : ''
  const late = TIMEOUT_PATTERN.test(cause.message) ? `no connection within ${seconds} s` : null
  const why =
    late ?? describeDatabaseError(cause) ?? `it can not be reached (${code || cause.name})`
  return new DatabaseConnectionError(`the database at ${hostAndPortOf(config)}: ${why}`, cause)
}

/** Host and port of a pool's URL, without its user, password and parameters. */
function hostAndPortOf({ connectionString }: pg.PoolConfig): string {
  const { hostname, port, searchParams } = new URL(connectionString ?? 'postgresql://localhost')
  const host = hostname || searchParams.get('host') || 'localhost'
  return `${decodeURIComponent(host)}:${port || '5432'}`
}

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void

/**
 * A pool that reports a failed connection as `DatabaseConnectionError`, whose message names the server and the reason.
 */
export class PoolWithClearErrors extends pg.Pool {
  readonly #config: pg.PoolConfig

  constructor(config: pg.PoolConfig) {
    super(config)
    this.#config = config
  }

  override connect(): Promise<pg.PoolClient>
  override connect(done: ConnectCallback): void
  override connect(done?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    const named = (error: Error) => connectionError(error, this.#config)
    if (!done)
      return super.connect().catch((error: Error) => {
        throw named(error)
      })
    super.connect((error, client, release) => done(error && named(error), client, release))
    return undefined
  }
}
