import { beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../../test/storage/database.js'
import { pipelined } from './pipeline.js'
import { inShortTransaction, inTransaction } from './pool.js'
import { readRows } from './rows.js'

const database = useDatabase()
const INSERT = { name: 'insert', text: 'INSERT INTO items VALUES ($1) RETURNING id' }
const COUNT = { name: 'count', text: 'SELECT count(*) FROM items' }

beforeAll(() => database.pool.query('CREATE TABLE items (id int PRIMARY KEY)'))

const stored = async () => (await database.pool.query('SELECT id FROM items ORDER BY id')).rows.map(({ id }) => id)

test('each statement of a pipeline gets its own answer, and sees what those before it wrote', async () => {
  const answers = await inTransaction(database.pool, async (client) => {
    const send = () =>
      pipelined(client, (db) => [readRows(db, INSERT, [1]), readRows(db, COUNT), db.query('DELETE FROM items')])
    // the second time, the server knows the statements
    return [await send(), await send()]
  })
  for (const [inserted, counted, deleted] of answers) {
    expect([inserted, counted]).toEqual([[{ id: 1 }], [{ count: 1 }]])
    expect(deleted.rowCount).toBe(1)
  }
})

test('after a failure nothing of the rest is done, and the connection goes on', async () => {
  const client = await database.pool.connect()
  const late = { name: 'late', text: 'INSERT INTO items VALUES ($1 + 1)' }
  const failing = pipelined(client, (db) => [readRows(db, INSERT, ['x']), readRows(db, late, [1])])
  await expect(failing).rejects.toMatchObject({ code: '22P02' })
  await pipelined(client, (db) => [readRows(db, late, [1]), readRows(db, INSERT, [1])])
  await client.query('DELETE FROM items')
  client.release()
})

test('a transaction whose last statements fail leaves nothing behind', async () => {
  const failing = inShortTransaction(database.pool, {
    first: (db) => readRows(db, INSERT, [1]),
    decide: async () => (db) => Promise.all([readRows(db, INSERT, [2]), readRows(db, INSERT, [2])]),
  })
  await expect(failing).rejects.toMatchObject({ code: '23505' })
  expect(await stored()).toEqual([])
})

test('a statement that can not be sent keeps the others from being done', async () => {
  const unsendable = {
    toPostgres(): never {
      throw new Error('no value')
    },
  }
  const failing = inShortTransaction(database.pool, {
    first: async () => {},
    decide: async () => (db) => Promise.all([readRows(db, INSERT, [1]), readRows(db, INSERT, [unsendable])]),
  })
  await expect(failing).rejects.toThrow('no value')
  expect(await stored()).toEqual([])
})
