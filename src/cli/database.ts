import type pg from 'pg'
import { ConfigError, readEnvironment } from '../config/index.js'
import { DatabaseConnectionError } from '../db/pg/connecting.js'
import { createPool } from '../db/pg/pool.js'
import { MISSING_PRIVILEGE, runAndRecordCommand } from './recorded.js'

/**
 * Runs `work` on a command's database, and records the command in `operator_actions`. Every command opens its database
 * here, except `start` and `mirror`, which log their actions, and `doctor`, which only reads.
 * @throws ConfigError where no database is set; the errors of `work`, of which database errors get a text with advice
 */
export async function withDatabaseUrl<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { databaseDirectUrl, home } = readEnvironment()
  if (databaseDirectUrl === undefined)
    throw new ConfigError(
      `DATABASE_URL is not set, and no local world runs in ${home} (CLUSTERD_HOME): set either.`,
    )
  return runAndRecordCommand(databaseDirectUrl, () =>
    work(databaseDirectUrl).catch(throwWithDatabaseAdvice(databaseDirectUrl)),
  )
}

/** Creates a handler that throws a database error with its cause and advice, and every other error unchanged. */
export const throwWithDatabaseAdvice =
  (url: string) =>
  (error: unknown): never => {
    const fault = databaseErrorAdvice(error, url)
    throw fault === null ? error : new Error(fault, { cause: error })
  }

/** SQLSTATEs of a missing table or column: the database was never migrated, or has the tables of an earlier version. */
const MISSING_TABLE_PATTERN = /^(42P01|42703)$/
/** Error codes for a wrong role, password or database name (SQLSTATE class 28, 3D000). */
const LOGIN_REFUSED_PATTERN = /^(28\d\d\d|3D000)$/
/** Error codes for a server that can not be reached. */
const UNREACHABLE_PATTERN = /^(ECONN\w+|E(HOST|NET)UNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/

/** Error codes for a server's certificate that is not trusted (OpenSSL's codes, as Node reports them). */
const UNTRUSTED_CERTIFICATE_PATTERN =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_CERT_ALTNAME_INVALID)$/
/** Messages of the PostgreSQL driver's timeout errors, which have no error code. */
const DRIVER_TIMEOUT_PATTERN =
  /^(Connection terminated|timeout exceeded|timeout expired|Query read timeout)/

/** A sentence with the cause of a database error and advice; null for an error without known advice. */
export function databaseErrorAdvice(thrown: unknown, url: string): string | null {
  const error = thrown instanceof DatabaseConnectionError ? thrown.cause : thrown
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const { host, pathname, username } = new URL(url)
  if (MISSING_TABLE_PATTERN.test(code))
    return 'The database does not have the tables of this version: run `clusterd migrate` first.'
  if (LOGIN_REFUSED_PATTERN.test(code))
    return `PostgreSQL at ${host} lets nobody in as "${username}" to the database "${pathname.slice(1)}" (${code}): correct the role, its password or the name in DATABASE_URL.`
  const text = error instanceof Error ? error.message : ''
  if (UNTRUSTED_CERTIFICATE_PATTERN.test(code))
    return `The certificate of PostgreSQL at ${host} is not trusted (${code}): name the authority that signed it in DATABASE_URL, \`?sslmode=verify-full&sslrootcert=/path/ca.crt\` (a self-signed certificate is its own), or encrypt without a check by \`?sslmode=no-verify\`.`
  if (text.includes('does not support SSL connections'))
    return `PostgreSQL at ${host} has no TLS: set \`ssl = on\` there, or leave sslmode out of DATABASE_URL on a network that nobody reads.`
  if (code === MISSING_PRIVILEGE)
    return `The role "${username}" may not do this (${text}): run \`clusterd migrate\` as the owner of the tables, and grant the others USAGE on their schema with the rights of docs/run/configuration.md.`
  const isLate = code === '' && error instanceof Error && DRIVER_TIMEOUT_PATTERN.test(error.message)
  if (!UNREACHABLE_PATTERN.test(code) && !isLate) return null
  return `PostgreSQL at ${host} does not answer (${code || 'in time'}): start it, or correct DATABASE_URL.`
}

/** Maximum number of database connections of a command. Each is opened when it is needed. */
const MAX_CONNECTIONS = 3
/**
 * Time after which the server ends an idle transaction, such as that of a suspended command: its locks block other
 * processes.
 */
const IDLE_TRANSACTION_LIMIT_MS = 10_000

/**
 * Runs `work` as `withDatabaseUrl`, with a connection pool, which is closed afterwards. pg_stat_activity shows
 * `clusterd` and the command's first word.
 */
export const withDatabasePool = <T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> =>
  withDatabaseUrl(async (url) => {
    const pool = createPool({
      url,
      max: MAX_CONNECTIONS,
      applicationName: `clusterd ${process.argv[2]}`,
      idleTransactionMs: IDLE_TRANSACTION_LIMIT_MS,
    })
    try {
      return await work(pool)
    } finally {
      await pool.end()
    }
  })
