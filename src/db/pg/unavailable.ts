import { DATABASE_DRIVER_ERROR_PATTERN } from '../../ops/causes.js'
import { fallbackOnExpectedError } from '../../ops/log/errors.js'
import { withTimeout } from '../../ops/notify.js'

/**
 * SQLSTATEs of an outage: connection failures, shutdown, crash, start-up, too many connections, full disk, timeouts (of
 * a statement, of a lock, of a transaction in which this process stalled), read-only server, a closed database.
 */
const NOT_NOW = /^(08...|57P0[1235]|57014|25P03|53[123]00|55000|55P03|25006|40001|40P01)$/
const SOCKET =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|E(HOST|NET)UNREACH)$/
/** Prisma's codes for an outage: server unreachable or closed, timeouts, pool exhausted, a deadlock. */
const PRISMA = /^(P1001|P1002|P1008|P1017|P2024|P2028|P2034|P2037)$/

/** The clocks of this process and of the database differ, so neither can be trusted. */
class ClockError extends Error {
  override name = 'ClockError'
}

/** A transaction may be lost in a fail-over, so it is unknown whether it is committed. */
export class NotReplicatedError extends Error {
  override name = 'NotReplicatedError'
}

/** SQL: the database's clock, Unix ms. */
export const NOW_MS_SQL = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::int8'

/** Greatest accepted difference between the clocks of this process and of the database. Above it, writers throw. */
export const MAX_CLOCK_SKEW_MS = 5_000

/** @param databaseMs the database's present time @throws ClockError when this process's clock differs too much */
export function assertClocksAgree(databaseMs: number): void {
  const skewMs = Date.now() - databaseMs
  if (Math.abs(skewMs) > MAX_CLOCK_SKEW_MS)
    throw new ClockError(
      `the clocks of this host and of the database differ by ${skewMs} ms: set them right`,
    )
}

const hasCode =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof Error && 'code' in error && error.code === code

export const isUniqueViolation = hasCode('23505')
/**
 * True if PostgreSQL refuses the values: SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation).
 */
export const isRefusedValueError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code))
export const isLockTimeoutError = hasCode('55P03')
/** True if a server is read-only, such as a standby. */
export const isReadOnlyError = hasCode('25006')

/** Waits for a write that is not essential. Ignores the failure if the database is unavailable. */
export const ignoreOutage = (write: Promise<void>): Promise<void> =>
  fallbackOnExpectedError(write, isDatabaseUnavailable, undefined)

/** True if the database is unavailable now, rather than a statement wrong. Checks the causes of wrapped errors too. */
export function isDatabaseUnavailable(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 4) return false
  if (error instanceof ClockError || error instanceof NotReplicatedError) return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (
    NOT_NOW.test(code) ||
    SOCKET.test(code) ||
    PRISMA.test(code) ||
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

/** Timeout of the reads for a page, as long as `/status` waits for the database. */
const PAGE_LIMIT_MS = 3_000

/** Reads data for a page that has to work without the database too. Null while the database is unavailable. */
export function nullIfDatabaseUnavailable<T>(reading: Promise<T>): Promise<T | null> {
  return withTimeout(
    PAGE_LIMIT_MS,
    fallbackOnExpectedError(reading, isDatabaseUnavailable, null),
    null,
  )
}
