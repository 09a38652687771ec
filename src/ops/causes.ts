import { errorSentence, isInternalError, MAX_CAUSES } from './logger/errors.js'

/** Part of the installation that an error points to. */
export type ErrorCause = 'database' | 'clock' | 'other'

/** Names of chains' errors. Their `cause` is not examined: it may be an error of a connection to a node. */
const CHAIN_ERROR_NAMES = new Set([
  'ChainUnavailableError',
  'RpcError',
  'RefutedAnswerError',
  'NodeError',
])
/** Names of our own errors that point to the database. */
const DATABASE_ERROR_NAMES = new Set([
  'DatabaseConnectionError',
  'NotReplicatedError',
  'ReadOnlyServerError',
])

/** Beginnings of the messages of `pg` errors without a code, such as a broken connection or an ended pool. */
export const DATABASE_DRIVER_ERROR_PATTERN =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Cannot use a pool after|Client has encountered a connection error|Query read timeout|Client was closed)/

/** Finds the part of the installation that an error points to, by name, message and fields of it and of its causes. */
export function errorCause(error: unknown, depth = 0): ErrorCause {
  if (!(error instanceof Error) || depth > MAX_CAUSES || CHAIN_ERROR_NAMES.has(error.name))
    return 'other'
  if (error.name === 'ClockError') return 'clock'
  if (DATABASE_ERROR_NAMES.has(error.name) || isDriverError(error)) return 'database'
  // An unwrapped system error is of the database driver's socket: other code wraps errors of its sockets. An unwrapped
  // error of a file counts as the database's too.
  if (depth === 0 && 'syscall' in error) return 'database'
  return errorCause(error.cause, depth + 1)
}

/** True for errors of `pg`: the server's have a severity, the driver's are known by their message. */
const isDriverError = (error: Error): boolean =>
  'severity' in error || DATABASE_DRIVER_ERROR_PATTERN.test(error.message)

/** Sentence about an error of a chain's indexer. Null where the database, a clock or our own code is the cause. */
export const chainErrorSentence = (error: unknown): string | null =>
  isInternalError(error) || errorCause(error) !== 'other' ? null : errorSentence(error)
