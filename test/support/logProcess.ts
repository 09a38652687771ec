import { runInThisContext } from 'node:vm'
import { HttpRequestError } from 'viem'
import { createLogger, exitOnUncaughtErrors } from '../../src/ops/logger/logger.js'

/** A program that writes to the log: its arguments are the log's format, a secret, and what it writes. */
const [format, secret, what] = process.argv.slice(2) as ['json' | 'pretty', string, string]
const log = createLogger({ level: 'trace', format })

/** Makes an error outside our own code, like a library: the log recognizes it by its position. */
const makeElsewhere = runInThisContext('(Class, options) => new Class(options)', {
  filename: 'library.js',
})
const error = (): Error =>
  makeElsewhere(HttpRequestError, {
    url: `http://node/${secret}`,
    body: { data: secret },
    status: 500,
  })

const NAMES = 'authorization signature share privateKey secretKey databaseUrl'.split(' ')

const WORK: Readonly<Record<string, () => void>> = {
  secrets() {
    const secrets = Object.fromEntries(NAMES.map((name) => [name, secret]))
    log.info(secrets, 'a line')
    log.info({ config: secrets }, 'a line')
    log.info({ headers: { authorization: secret, 'x-auth-key': secret } }, 'a line')
    log.info({ req: { headers: { 'x-api-key': secret, 'x-auth-key': secret } } }, 'a line')
    log.info({ err: new Error('a request failed', { cause: error() }) }, 'a line')
  },
  token() {
    log.info({ token: 'So11111111111111111111111111111111111111112' }, 'a line')
  },
  throw() {
    exitOnUncaughtErrors(log)
    throw error()
  },
  reject() {
    exitOnUncaughtErrors(log)
    void Promise.reject(error())
  },
}
WORK[what]!()
