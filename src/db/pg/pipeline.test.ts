import { beforeAll, expect, test, vi } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import { inPipeline, socketOf } from './pipeline.js'
import { inTransaction } from './pool.js'
import { prepared, readRows } from './rows.js'

const database = useDatabase()
const INSERT = prepared('INSERT INTO items VALUES ($1) RETURNING id')
const COUNT = prepared('SELECT count(*) FROM items')

beforeAll(() => database.pool.query('CREATE TABLE items (id int PRIMARY KEY)'))

const stored = async () =>
  (await database.pool.query('SELECT id FROM items ORDER BY id')).rows.map(({ id }) => id)

test('each statement of a pipeline gets its own answer, and sees what earlier ones wrote', async () => {
  const answers = await inTransaction(database.pool, async (client) => {
    const send = () =>
      inPipeline(client, (db) => [
        readRows(db, INSERT, [1]),
        readRows(db, COUNT),
        db.query('DELETE FROM items'),
      ])
    // the second time, the server knows the statements
    return [await send(), await send()]
  })
  for (const [time, [inserted, counted, deleted]] of answers.entries()) {
    expect([inserted, counted], `time ${time}`).toEqual([[{ id: 1 }], [{ count: 1 }]])
    expect(deleted.rowCount, `time ${time}`).toBe(1)
  }
})

test('all statements of a pipeline reach the server in one write', async () => {
  await inTransaction(database.pool, async (client) => {
    const [written, alone] = ['_writev', '_write'].map((by) =>
      vi.spyOn(socketOf(client), by as 'write'),
    )
    await inPipeline(client, (db) => [
      readRows(db, COUNT),
      readRows(db, COUNT),
      db.query('SELECT 1'),
    ])
    expect(written).toHaveBeenCalledTimes(1)
    expect(alone).not.toHaveBeenCalled()
  })
})

test('after a failure in a transaction none of the other statements runs, and the connection stays usable', async () => {
  await inTransaction(database.pool, async (client) => {
    await client.query('SAVEPOINT before')
    const failing = inPipeline(client, (db) => [
      readRows(db, INSERT, ['x']),
      readRows(db, INSERT, [1]),
    ])
    await expect(failing).rejects.toMatchObject({ code: '22P02' })
    await client.query('ROLLBACK TO before')
  })
  expect(await stored()).toEqual([])
})
