import { isOwnError, sentenceOf } from './log/errors.js'

/** Part of the installation that an error blames. */
export type Cause = 'database' | 'clock' | 'other'

/** Classes of errors that already blame a chain, whatever their cause was. */
const OF_CHAIN = new Set(['ChainUnavailableError', 'RpcError', 'RefutedError', 'NodeError'])
/** Classes of our own errors that blame the database. */
const OF_DATABASE = new Set(['DatabaseConnectionError', 'NotReplicatedError'])

/** Messages of `pg` errors without a code: a connection cut in mid-query, a slow or ended pool. */
export const PG_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Cannot use a pool after|Client has encountered a connection error|Query read timeout|Client was closed)/
/** Error codes of Prisma. */
const PRISMA = /^P[12]\d{3}$/
/** Bounds a chain of causes, which may form a circle. */
const MAX_CAUSES = 8

/** Finds what an error blames, by its class and its causes. */
export function causeOf(error: unknown, depth = 0): Cause {
  if (!(error instanceof Error) || depth > MAX_CAUSES || OF_CHAIN.has(error.name)) return 'other'
  if (error.name === 'ClockError') return 'clock'
  if (OF_DATABASE.has(error.name) || isOfDriver(error)) return 'database'
  // a socket of the driver's: errors of other sockets are wrapped by what uses them
  if (depth === 0 && 'syscall' in error) return 'database'
  return causeOf(error.cause, depth + 1)
}

/** True for errors of `pg` and Prisma: their servers' answers have a severity. */
function isOfDriver(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return 'severity' in error || PRISMA.test(code) || PG_MESSAGE.test(error.message)
}

/** Sentence about a chain whose step failed; null where the database, a clock or our own code is to blame. */
export const chainErrorOf = (error: unknown): string | null =>
  isOwnError(error) || causeOf(error) !== 'other' ? null : sentenceOf(error)
