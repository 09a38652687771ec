import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { expect, it } from 'vitest'
import { useServer } from '../../../test/support/database.js'
import { createPool } from '../../db/pg/pool.js'
import { describeDatabaseError } from './databaseErrors.js'
import { errorSentence, toLoggedError } from './errors.js'

const SECRET = 'planted-secret-1'
const server = useServer()

const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.unreachable(),
    (error: Error) => error,
  )

/** Failures of statements on one connection, first on the pool, then in a transaction's way. */
async function failuresOf(
  ask: (db: Pick<pg.Pool, 'query'>) => Promise<unknown>,
): Promise<readonly Error[]> {
  const pool = createPool({ url: server.url, max: 1, applicationName: 'test' })
  try {
    const onPool = await failure(ask(pool))
    const client = await pool.connect()
    const onClient = await failure(ask(client)).finally(() => client.release())
    return [onPool, onClient]
  } finally {
    await pool.end()
  }
}

it('a refusal of the driver is readable: it holds no row', async () => {
  const errors = await failuresOf(async (db) => {
    await db.query({ name: 'read_twice', text: 'SELECT 1' })
    await db.query({ name: 'read_twice', text: 'SELECT 2' })
  })
  for (const error of errors)
    expect(toLoggedError(error).message).toBe(
      "Prepared statements must be unique - 'read_twice' was used for a different statement",
    )
})

it.each([
  ['a violated constraint', '23505', `INSERT INTO held VALUES ('${SECRET}')`],
  ['a value of a wrong type', '22P02', `SELECT '${SECRET}'::int`],
  ['a message that resembles the driver’s', 'P0001', `DO $$ BEGIN RAISE 'SASL: ${SECRET}'; END $$`],
])(
  'the server’s message is withheld, and the log says where to look: %s',
  async (_, code, text) => {
    const errors = await failuresOf(async (db) => {
      await db.query('CREATE TABLE IF NOT EXISTS held (name text PRIMARY KEY)')
      await db.query(`INSERT INTO held VALUES ('${SECRET}') ON CONFLICT DO NOTHING`)
      await db.query(text)
    })
    for (const error of errors) {
      expect(JSON.stringify({ ...error, message: error.message })).toContain(SECRET)
      expect(JSON.stringify(toLoggedError(error))).not.toContain(SECRET)
      const said = `message withheld: it may hold a row; SQLSTATE ${code}, see PostgreSQL's own log`
      expect(errorSentence(error)).toBe(said)
    }
  },
)

it.each([
  ['a number', `SELECT '9007199254740993'::int8 AS n`, '9007199254740993'],
  ['a fraction', `SELECT 1.5::numeric AS n`, '1.5'],
])('a value that can not be read is not shown: %s', async (_, text, value) => {
  for (const error of await failuresOf((db) => db.query(text))) {
    expect(error.message).toContain(value)
    expect(JSON.stringify(toLoggedError(error).message ?? '')).not.toContain(value)
  }
})

it('a schema that the role may not use is named, also where the pool reports it', async () => {
  const owner = createPool({ url: server.url, max: 1, applicationName: 'test' })
  await owner.query(`CREATE SCHEMA locked; CREATE TABLE locked.migrations (checksum text, applied_at text);
    CREATE ROLE stranger LOGIN`)
  await owner.end()
  const url = Object.assign(new URL(server.url), { username: 'stranger' }).href
  const pool = createPool({ url, max: 1, applicationName: 'test' })
  const error = await failure(pool.query('SELECT 1'))
  await pool.end()
  expect(errorSentence(error)).toContain('permission denied for schema locked')
})

/** Messages of the driver that quote something else than its own text, or are about a feature that we do not use. */
const NOT_SHOWN = [
  /^Invalid sslnegotiation value: "/,
  / not supported in pipeline mode$/,
  /^circular reference detected while preparing "/,
  /^SASL channel binding: /,
  /^SASL: SCRAM-SERVER-FINAL-MESSAGE: server returned error: "/,
]

it('every message that the driver makes is readable, apart from those that quote', () => {
  const folders = ['pg/lib', 'pg-pool', 'pg-protocol/dist', 'postgres-array'].map((path) =>
    join(import.meta.dirname, '../../../node_modules', path),
  )
  const made = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.test)\.js$/.test(file) && !/(^|\/)(native|test|esm)\//.test(file))
      .flatMap((file) => messagesIn(readFileSync(join(folder, file), 'utf8'))),
  )
  expect(made.length).toBeGreaterThan(50)
  const unknown = made.filter((message) => describeDatabaseError(new Error(message)) === null)
  expect(unknown.filter((message) => !NOT_SHOWN.some((one) => one.test(message)))).toEqual([])
})

/** Messages of the errors of class `Error` that a source makes. A value in a message is written as `x`. */
function messagesIn(source: string): string[] {
  const literals = source.matchAll(/new Error\(\s*(['"`])(.*?)(?<!\\)\1/g)
  return [...literals].map(([, , text = '']) => text.replace(/\$\{[^}]*\}/g, 'x'))
}
