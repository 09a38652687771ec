import type pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { queryOn, useServer } from '../../../test/support/database.js'
import { createPool, inTransaction } from './pool.js'
import { isDatabaseUnavailable } from './unavailable.js'

/** SQLSTATEs that a second attempt on another connection may not meet. */
const MOMENTARY = [
  '08006',
  '26000',
  '40001',
  '40P01',
  '53100',
  '53200',
  '57P01',
  '57P05',
  '58030',
  'XX000',
]
const LASTING = ['22012', '25006', '42601', '42P01', '55P03', '57014']

const server = useServer()
let pool: pg.Pool

beforeAll(async () => {
  await queryOn(
    server.url,
    `CREATE TABLE moods (pid int PRIMARY KEY, code text);
     CREATE TABLE written (n int);
     CREATE FUNCTION mood() RETURNS int LANGUAGE plpgsql AS $$
       DECLARE found_code text := (SELECT code FROM moods WHERE pid IN (0, pg_backend_pid()));
       BEGIN
         IF found_code IS NOT NULL THEN RAISE EXCEPTION USING ERRCODE = found_code; END IF;
         RETURN 1;
       END $$;
     CREATE FUNCTION write_in_mood() RETURNS int LANGUAGE plpgsql AS $$
       BEGIN INSERT INTO written VALUES (1); RETURN mood(); END $$;`,
  )
})
beforeEach(async () => {
  await queryOn(server.url, 'TRUNCATE moods, written')
  pool = createPool({ url: server.url, max: 3, applicationName: 'test' })
})
afterEach(() => pool.end())

/** Lets statements on the pool's idle connection fail. With `everywhere`, those on any connection. */
async function letFail(code: string, { everywhere = false } = {}): Promise<void> {
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  await queryOn(
    server.url,
    `INSERT INTO moods VALUES (${everywhere ? 0 : rows[0]!.pid}, '${code}')`,
  )
}

const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.unreachable(),
    (error: Error) => error,
  )

describe('a read outside a transaction', () => {
  it.each([...MOMENTARY, '0A000'])(
    'is run once more, on another connection, after %s',
    async (code) => {
      await letFail(code)
      expect((await pool.query('SELECT mood() AS n')).rows).toEqual([{ n: 1 }])
      await letFail(code)
      const named = { name: 'named', text: 'SELECT mood() + $1 AS n', values: [1] }
      expect((await pool.query(named)).rows).toEqual([{ n: 2 }])
    },
  )

  it.each(LASTING)('is not run again after %s', async (code) => {
    await letFail(code)
    await expect(pool.query('SELECT mood()')).rejects.toMatchObject({ code })
  })

  it('is run once more when its connection breaks, and the other idle ones with it', async () => {
    await Promise.all([1, 2, 3].map(() => pool.query('SELECT pg_sleep(0.1)')))
    expect(pool.idleCount).toBe(3)
    const read = pool.query('SELECT 1 AS n FROM pg_sleep(0.5)')
    await queryOn(
      server.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'test %'`,
    )
    expect((await read).rows).toEqual([{ n: 1 }])
  })

  it('is run once more without its name where a migration has changed its columns', async () => {
    await queryOn(server.url, 'CREATE TABLE widened (a int)')
    const named = { name: 'widened', text: 'SELECT * FROM widened' }
    await pool.query(named)
    await queryOn(server.url, 'ALTER TABLE widened ADD b int; INSERT INTO widened VALUES (1, 2)')
    expect((await pool.query(named)).rows).toEqual([{ a: 1, b: 2 }])
  })

  it('that fails twice reports the first failure, as one of the database', async () => {
    for (const code of MOMENTARY) {
      await letFail(code, { everywhere: true })
      const thrown = await failure(pool.query('SELECT mood()'))
      expect(thrown).toMatchObject({ code })
      expect(isDatabaseUnavailable(thrown), code).toBe(true)
      await queryOn(server.url, 'TRUNCATE moods')
    }
  })

  it('that PostgreSQL does not support is a mistake of our own', async () => {
    const thrown = await failure(pool.query('SELECT 1 FROM moods FOR UPDATE OF written'))
    expect(isDatabaseUnavailable(thrown)).toBe(false)
    await letFail('0A000', { everywhere: true })
    expect(isDatabaseUnavailable(await failure(pool.query('SELECT mood()')))).toBe(false)
  })
})

describe('a write is never repeated', () => {
  it.each([
    ['a statement', 'INSERT INTO written SELECT mood()'],
    [
      'a write in a SELECT',
      'WITH w AS (INSERT INTO written VALUES (1) RETURNING n) SELECT mood() FROM w',
    ],
    ['a function that writes', 'SELECT write_in_mood()'],
    ['several statements', 'INSERT INTO written VALUES (1); SELECT mood()'],
    ['several that end the transaction', 'COMMIT; INSERT INTO written VALUES (1); SELECT mood()'],
    ['rows that are locked', 'SELECT mood() FROM (SELECT FROM moods FOR UPDATE) locked'],
  ])('%s', async (_, text) => {
    for (const code of ['40001', '08006', '26000', '0A000', 'XX000']) {
      await letFail(code)
      await expect(pool.query(text), code).rejects.toMatchObject({ code })
    }
    expect(await queryOn(server.url, 'SELECT n FROM written')).toEqual([])
  })

  it('a transaction with it', async () => {
    await letFail('40001')
    let runs = 0
    const writing = inTransaction(pool, async (client) => {
      runs += 1
      await client.query('INSERT INTO written SELECT mood()')
    })
    await expect(writing).rejects.toMatchObject({ code: '40001' })
    expect(runs).toBe(1)
  })
})

it('a transaction whose plans a migration has made stale fails once, and leaves its connection', async () => {
  await queryOn(server.url, 'CREATE TABLE stale (a int)')
  const read = () =>
    inTransaction(pool, (client) =>
      client.query({ name: 'stale', text: 'SELECT * FROM stale FOR UPDATE' }),
    )
  await read()
  await queryOn(server.url, 'ALTER TABLE stale ADD b int; INSERT INTO stale VALUES (1, 2)')
  expect(isDatabaseUnavailable(await failure(read()))).toBe(true)
  expect((await read()).rows).toEqual([{ a: 1, b: 2 }])
})
