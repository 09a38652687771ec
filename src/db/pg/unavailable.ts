import { PG_MESSAGE } from '../../ops/causes.js'
import { orIf } from '../../ops/log/errors.js'
import { inTime } from '../../ops/notify.js'

/**
 * SQLSTATEs of an outage: connections, shutdown, crash, start, too many, full disk, time limits (of a statement, of a lock, and of
 * a transaction in which this process stalled), a closed database.
 */
const NOT_NOW = /^(08...|57P0[1235]|57014|25P03|53[123]00|55000|55P03|25006|40001|40P01)$/
const SOCKET =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|E(HOST|NET)UNREACH)$/
/** Codes of Prisma for an outage: server unreachable or closed, time limits, pool exhausted, a deadlock. */
const PRISMA = /^(P1001|P1002|P1008|P1017|P2024|P2028|P2034|P2037)$/

/** Thrown when this process's clock and the database's differ: neither can be believed. */
class ClockError extends Error {
  override name = 'ClockError'
}

/** Thrown when a transaction may be lost in a fail-over: whether it is made is not known. */
export class NotReplicatedError extends Error {
  override name = 'NotReplicatedError'
}

/** The database's clock in a statement, ms. */
export const NOW_MS = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::int8'

/** Difference between the clocks of this process and of the database from which nothing is dated by either. */
export const MAX_SKEW_MS = 5_000

/** @param databaseMs the database's time of this moment @throws ClockError when this process's clock says otherwise */
export function assertClock(databaseMs: number): void {
  const skewMs = Date.now() - databaseMs
  if (Math.abs(skewMs) > MAX_SKEW_MS)
    throw new ClockError(
      `the clocks of this host and of the database differ by ${skewMs} ms: set them right`,
    )
}

const hasCode =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof Error && 'code' in error && error.code === code

export const isUniqueViolation = hasCode('23505')
/** True if values can not be stored: SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation). */
export const isRefusedValue = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code))
export const isLockTimeout = hasCode('55P03')
/** True if a server takes no writes, as a standby. */
export const isReadOnly = hasCode('25006')

/** Waits for a write that an answer can do without: one that the database can't take now is left out. */
export const bestEffort = (write: Promise<void>): Promise<void> =>
  orIf(write, isDatabaseUnavailable, undefined)

/** True if PostgreSQL can't answer now, rather than a fault of the statement; causes of wrapped errors count too. */
export function isDatabaseUnavailable(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 4) return false
  if (error instanceof ClockError || error instanceof NotReplicatedError) return true
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (
    NOT_NOW.test(code) ||
    SOCKET.test(code) ||
    PRISMA.test(code) ||
    PG_MESSAGE.test(error.message)
  )
    return true
  if (
    error instanceof AggregateError &&
    error.errors.some((inner) => isDatabaseUnavailable(inner, depth + 1))
  )
    return true
  return isDatabaseUnavailable(error.cause, depth + 1)
}

/** Time limit of what a page reads; as long as `/status` waits for the database. */
const PAGE_LIMIT_MS = 3_000

/** Facts that are read for a page that is needed while the database is away, too: null then. */
export function nullIfAway<T>(reading: Promise<T>): Promise<T | null> {
  return inTime(PAGE_LIMIT_MS, orIf(reading, isDatabaseUnavailable, null), null)
}
