import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { useDatabase } from '../../../test/storage/database.js'
import { type CopyBuffer, type CopyPart, copyPart, sendTables } from './copy.js'
import { pipelined } from './pipeline.js'
import { inTransaction } from './pool.js'

const database = useDatabase()
beforeEach(() => database.pool.query('CREATE TABLE few (n int4 PRIMARY KEY); CREATE TABLE many (n int4, text text)'))
afterEach(() => database.pool.query('DROP TABLE few, many'))

const few = (numbers: readonly number[]) => copyPart('few', numbers, (to, n) => to.row(1).int4(n))
/** Rows of more bytes than a socket takes at once. */
const many = (count: number) =>
  copyPart(
    'many',
    Array.from({ length: count }, (_, n) => n),
    (to: CopyBuffer, n) => to.row(2).int4(n).ascii('x'.repeat(1_000)),
  )
const copyTables = (client: pg.ClientBase, parts: readonly CopyPart[]) =>
  pipelined(client, (db) => sendTables(db, parts))
const counts = async () =>
  (await database.pool.query('SELECT (SELECT count(*)::int FROM few) AS few, (SELECT count(*)::int FROM many) AS many'))
    .rows[0]

test('rows of several tables go out at once, however many they are', async () => {
  await inTransaction(database.pool, (client) => copyTables(client, [few([1, 2]), few([]), many(20_000), few([3])]))
  expect(await counts()).toEqual({ few: 3, many: 20_000 })
})

test('nothing to store asks nothing of the server', async () => {
  await inTransaction(database.pool, (client) => copyTables(client, [few([])]))
  expect(await counts()).toEqual({ few: 0, many: 0 })
})

test('a row that is refused fails the whole, and the connection goes on', async () => {
  await inTransaction(database.pool, async (client) => {
    await client.query('SAVEPOINT before')
    await expect(copyTables(client, [many(5_000), few([1, 1]), many(5_000)])).rejects.toMatchObject({ code: '23505' })
    await client.query('ROLLBACK TO before')
    await copyTables(client, [few([1])])
  })
  expect(await counts()).toEqual({ few: 1, many: 0 })
})

test.each([2 ** 31, -(2 ** 31) - 1, 1.5, Number.NaN])(
  'a row that cannot be encoded closes the connection (%s)',
  async (n) => {
    await expect(inTransaction(database.pool, (client) => copyTables(client, [few([1]), few([n])]))).rejects.toThrow(
      `${n} is no integer of 4 bytes`,
    )
    expect(await counts()).toEqual({ few: 0, many: 0 })
  },
)
