import fc from 'fast-check'
import { expect, it } from 'vitest'
import { useServer } from '../../../test/support/database.js'
import { type ArrayColumns, insertRows } from './arrays.js'
import { copyRows } from './copyRows.js'
import { createPool, inTransaction } from './pool.js'

const server = useServer()

interface Row {
  id: number
  small: number | null
  whole: number | null
  large: number | bigint | null
  isSet: boolean | null
  bytes: Buffer | null
  text: string | null
}

const COLUMNS: ArrayColumns<Row> = [
  ['id', 'int4', ({ id }) => id],
  ['small', 'int2', ({ small }) => small],
  ['whole', 'int4', ({ whole }) => whole],
  ['large', 'int8', ({ large }) => large],
  ['is_set', 'bool', ({ isSet }) => isSet],
  ['bytes', 'bytea', ({ bytes }) => bytes],
  ['text', 'text', ({ text }) => text],
]

const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })
const rowsOf = fc
  .array(
    fc.record({
      small: orNull(fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 })),
      whole: orNull(fc.integer()),
      large: orNull(
        fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      ),
      isSet: orNull(fc.boolean()),
      bytes: orNull(fc.uint8Array({ maxLength: 5_000 }).map((bytes) => Buffer.from(bytes))),
      // text of PostgreSQL has no zero character
      text: orNull(fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))),
    }),
    { maxLength: 20 },
  )
  .map((rows): Row[] => rows.map((row, id) => ({ id, ...row })))

it('COPY writes the rows that an insert of the same values writes', async () => {
  const pool = createPool({ url: server.url, max: 1, applicationName: 'test' })
  for (const table of ['copied', 'inserted'])
    await pool.query(
      `CREATE TABLE ${table} (network int2, id int4, small int2, whole int4, large int8, is_set bool, bytes bytea, text text)`,
    )
  const written = async (table: string) =>
    (await pool.query(`SELECT id, ${table}::text AS written FROM ${table} ORDER BY id`)).rows
  await fc.assert(
    fc.asyncProperty(rowsOf, async (items) => {
      await pool.query('TRUNCATE copied, inserted')
      await inTransaction(pool, async (client) => {
        await copyRows(client, 'testnet', { table: 'copied', columns: COLUMNS, items })
        await insertRows(client, 'testnet', { table: 'inserted', columns: COLUMNS, items })
      })
      const copied = await written('copied')
      expect(copied).toHaveLength(items.length)
      expect(copied).toEqual(await written('inserted'))
    }),
    { numRuns: 50 },
  )
  await pool.end()
})

it('a row that COPY refuses fails its transaction with the code of the refusal', async () => {
  const pool = createPool({ url: server.url, max: 1, applicationName: 'test' })
  await pool.query('CREATE TABLE only_once (network int2, id int4 PRIMARY KEY)')
  const columns: ArrayColumns<{ id: number }> = [['id', 'int4', ({ id }) => id]]
  const twice = inTransaction(pool, (client) =>
    copyRows(client, 'mainnet', { table: 'only_once', columns, items: [{ id: 1 }, { id: 1 }] }),
  )
  await expect(twice).rejects.toMatchObject({ code: '23505' })
  expect((await pool.query('SELECT FROM only_once')).rowCount).toBe(0)
  await pool.end()
})
