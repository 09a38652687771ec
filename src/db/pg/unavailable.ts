/**
 * SQLSTATEs of an outage: connection classes, shutdown, crash, starting up, too many connections, disk full, time
 * limit.
 */
const NOT_NOW = new Set([
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '57014',
  '53100',
  '53200',
  '53300',
  '25006',
  '40001',
  '40P01',
])
const SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
/** Codes of Prisma for an outage: server unreachable or closed, time limits, pool exhausted. */
const PRISMA = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037'])
/**
 * Messages of `pg` errors without a code: a connection cut in mid-query, a pool that was too slow to connect or was
 * ended.
 */
const MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|Cannot use a pool after|Client has encountered a connection error|Query read timeout|Client was closed)/

/**
 * Whether an error means that PostgreSQL can't answer now, rather than a fault of the statement. Wrapped errors of Node
 * and Prisma are searched too.
 */
export function isDatabaseUnavailable(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 4) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (NOT_NOW.has(code) || SOCKET.has(code) || PRISMA.has(code) || /^08...$/.test(code)) return true
  if (MESSAGE.test(error.message)) return true
  if (error instanceof AggregateError && error.errors.some((inner) => isDatabaseUnavailable(inner, depth + 1)))
    return true
  return isDatabaseUnavailable(error.cause, depth + 1)
}
