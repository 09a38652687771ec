import { DATABASE_DRIVER_ERROR_PATTERN } from '../../ops/causes.js'
import { sqlStateOf } from '../../ops/logger/databaseErrors.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { withTimeout } from '../../ops/waiting.js'
import type { Queryable } from './pipeline.js'

/** SQLSTATEs and codes of Node for a connection that broke, or that the server ended. */
const BROKEN_CODE_PATTERN = /^(08...|57P0[125]|ECONN(RESET|ABORTED)|EPIPE)$/
const BROKEN_MESSAGE_PATTERN = /^(Connection terminated|Client has encountered a connection error)/
/**
 * SQLSTATEs of failures after which a second attempt may succeed: a session that does not know its prepared statement,
 * conflicts (on a standby also of a read with the replay), a lack of resources, and errors of the server's operating
 * system or inside the server, such as a relation that was replaced meanwhile.
 */
const MOMENTARY_CODE_PATTERN = /^(26000|4000[13]|40P01|53[0124]00|58...|XX...)$/
/**
 * SQLSTATEs and codes of an outage that lasts: start-up or shutdown, a dropped database, too many connections, timeouts
 * (of a statement, of a lock, of a transaction in which this process stalled), a read-only server, a closed database,
 * an unreachable server.
 */
const OUTAGE_CODE_PATTERN =
  /^(57P0[34]|57014|25P03|53300|55000|55P03|25006|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|E(HOST|NET)UNREACH)$/
/** SQLSTATE of a missing feature, and of a prepared plan that is stale. */
const NOT_SUPPORTED_CODE = '0A000'

/** The clocks of this process and of the database differ by more than `MAX_CLOCK_SKEW_MS`, so neither is trusted. */
class ClockError extends Error {
  override name = 'ClockError'
}

/**
 * A transaction was committed on this server, but perhaps on no standby: the wait for the standby was cancelled. A
 * fail-over may lose the transaction.
 */
export class NotReplicatedError extends Error {
  override name = 'NotReplicatedError'
}

/** A server takes no writes, such as a primary that a fail-over has demoted. */
class ReadOnlyServerError extends Error {
  override name = 'ReadOnlyServerError'
  /** SQLSTATE of a write in a read-only transaction. */
  readonly code = '25006'
}

/** @throws ReadOnlyServerError if the server is a standby, or set to read only */
export async function assertTakesWrites(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ state: string }>(
    `SELECT current_setting('transaction_read_only') AS state`,
  )
  if (rows[0]!.state === 'on')
    throw new ReadOnlyServerError(
      'the database takes no writes: it is a standby, or set to read only',
    )
}

/** SQL: the database's clock, Unix ms. */
export const NOW_MS_SQL = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::int8'

/**
 * Greatest accepted difference between the clocks of this process and of the database. Above this difference, writers
 * throw.
 */
export const MAX_CLOCK_SKEW_MS = 5_000

/**
 * @param databaseMs the database's present time
 * @throws ClockError when this process's clock differs by more than `MAX_CLOCK_SKEW_MS`
 */
export function assertClocksAgree(databaseMs: number): void {
  const skewMs = Date.now() - databaseMs
  if (Math.abs(skewMs) > MAX_CLOCK_SKEW_MS)
    throw new ClockError(
      `the clocks of this host and of the database differ by ${skewMs} ms: set them right`,
    )
}

const createErrorCodeCheck =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof Error && 'code' in error && error.code === code

export const isUniqueViolation = createErrorCodeCheck('23505')
/**
 * True if PostgreSQL refuses the values: SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation).
 */
export const isRefusedValueError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code))
export const isLockTimeoutError = createErrorCodeCheck('55P03')
/** True if a server is read-only, such as a standby. */
export const isReadOnlyError = createErrorCodeCheck('25006')

/** Waits for a write that is not essential. Ignores the failure if the database is unavailable. */
export const ignoreOutage = async (write: Promise<unknown>): Promise<void> =>
  void (await fallbackOnExpectedError(write, isDatabaseUnavailable, undefined))

/** SQLSTATE of a server's error, otherwise Node's code. Empty without a code. */
function errorCodeOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return sqlStateOf(error) ?? code
}

/** True if the connection broke, or the server ended it. */
export const isBrokenConnectionError = (error: Error): boolean =>
  BROKEN_CODE_PATTERN.test(errorCodeOf(error)) || BROKEN_MESSAGE_PATTERN.test(error.message)

/**
 * True if a read may succeed immediately on another connection. After a timeout or a refused connection, a second
 * attempt would take as long, or be refused as well.
 */
export const isMomentaryError = (error: Error): boolean =>
  isBrokenConnectionError(error) ||
  MOMENTARY_CODE_PATTERN.test(errorCodeOf(error)) ||
  errorCodeOf(error) === NOT_SUPPORTED_CODE

/**
 * True if a session is of no more use, because a prepared statement is gone, or was planned for earlier columns of its
 * table. For the second case PostgreSQL has no code of its own, but names the function that reports it.
 */
export const isStaleSessionError = (error: unknown): boolean =>
  error instanceof Error &&
  (errorCodeOf(error) === '26000' ||
    (errorCodeOf(error) === NOT_SUPPORTED_CODE &&
      'routine' in error &&
      error.routine === 'RevalidateCachedQuery'))

/** True if an error means that the database is unavailable now, not that a statement is wrong. Checks causes too. */
export function isDatabaseUnavailable(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 4) return false
  if (error instanceof ClockError || error instanceof NotReplicatedError) return true
  const code = errorCodeOf(error)
  if (
    [BROKEN_CODE_PATTERN, MOMENTARY_CODE_PATTERN, OUTAGE_CODE_PATTERN].some((codes) =>
      codes.test(code),
    ) ||
    isStaleSessionError(error) ||
    DATABASE_DRIVER_ERROR_PATTERN.test(error.message)
  )
    return true
  if (
    error instanceof AggregateError &&
    error.errors.some((inner) => isDatabaseUnavailable(inner, depth + 1))
  )
    return true
  return isDatabaseUnavailable(error.cause, depth + 1)
}

/** Timeout of the reads for a page, ms: as long as `/status` waits for the database. */
const PAGE_READ_TIMEOUT_MS = 3_000

/**
 * Reads data for a page that has to work without the database too. Null while the database is unavailable, and after
 * `PAGE_READ_TIMEOUT_MS`.
 */
export function nullIfDatabaseUnavailable<T>(reading: Promise<T>): Promise<T | null> {
  return withTimeout(
    PAGE_READ_TIMEOUT_MS,
    fallbackOnExpectedError(reading, isDatabaseUnavailable, null),
    null,
  )
}
