import { destination, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type { Logger } from 'pino'

/** Fields whose values are redacted in every log line. */
const SECRET_PATHS = [
  'authorization',
  'signature',
  'token',
  'share',
  'privateKey',
  'relayerPrivateKey',
  'secretKey',
  'passphrase',
  'databaseUrl',
].flatMap((key) => [key, `*.${key}`, `headers.${key}`, `req.headers.${key}`])

/**
 * Makes the log: JSON lines, or readable ones on a terminal. Calls pass fields first and the message second; keys are
 * fixed (network, chain, block, entries, ms, err).
 */
export function createLog(options: { level: string; format?: 'json' | 'pretty' | undefined }): Logger {
  const redact = { paths: [...SECRET_PATHS, 'headers["x-auth-key"]', 'req.headers["x-auth-key"]'], censor: '[secret]' }
  const usePretty = options.format ? options.format === 'pretty' : process.stdout.isTTY === true
  const base = { level: options.level, redact, base: null }
  return usePretty
    ? pino(base, pretty({ colorize: process.stdout.isTTY, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' }))
    : pino(base, destination({ sync: false }))
}
