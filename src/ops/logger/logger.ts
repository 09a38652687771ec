import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import { toLoggedError } from './errors.js'
import { LoggerOutput } from './output.js'

export type { Logger } from 'pino'

/** Fields whose values are redacted in every log line. The field `token` is not redacted: it has a coin's address. */
const SECRET_FIELDS = [
  'authorization',
  'signature',
  'share',
  'privateKey',
  'secretKey',
  'databaseUrl',
]
const SECRET_PATHS = SECRET_FIELDS.flatMap((key) => [
  key,
  `*.${key}`,
  `headers.${key}`,
  `req.headers.${key}`,
])
const HEADER_PATHS = ['x-auth-key', 'x-api-key'].flatMap((name) => [
  `headers["${name}"]`,
  `req.headers["${name}"]`,
])

const STDOUT_FD = 1

export interface LoggerOptions {
  level: string
  /** Default: readable lines on a terminal, otherwise JSON. */
  format?: 'json' | 'pretty' | undefined
  /** Stream that receives JSON lines. Default: standard output. */
  to?: DestinationStream
}

/**
 * Creates the logger, which writes JSON lines, or readable lines on a terminal. Calls pass fields first and the message
 * second. Fields that many lines have are `network`, `chain`, `block`, `ms` and `err`, an error.
 */
export function createLogger(options: LoggerOptions): Logger {
  const redact = { paths: [...SECRET_PATHS, ...HEADER_PATHS], censor: '[secret]' }
  const base = { level: options.level, redact, base: null, serializers: { err: toLoggedError } }
  if (options.to) return pino(base, options.to)
  const usePretty = options.format ? options.format === 'pretty' : process.stdout.isTTY === true
  return usePretty
    ? pino(
        base,
        pretty({
          colorize: process.stdout.isTTY,
          ignore: 'pid,hostname',
          translateTime: 'SYS:HH:MM:ss.l',
        }),
      )
    : pino(base, new LoggerOutput(STDOUT_FD))
}

/** Ends the process on uncaught errors: Node itself prints an uncaught error with all of its fields. */
export function exitOnUncaughtErrors(log: Logger): void {
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'a bug ended this process')
    process.exit(1)
  })
}
