import { setImmediate } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import { createBatchedLookups } from './batches.js'

const database = useDatabase()

const ROUNDS = 20
const LONG_TURN_MS = 10

/** Number of statements that the look-ups of `run` need. */
async function countStatements(
  run: (nameOf: ReturnType<typeof createBatchedLookups>['nameOf']) => Promise<void>,
): Promise<number> {
  const pool = database.pool
  const query = vi.spyOn(pool, 'query')
  await run(createBatchedLookups(pool, 'mainnet').nameOf)
  const count = query.mock.calls.length
  query.mockRestore()
  return count
}

const createAddress = (): Buffer => Buffer.alloc(20, 1)

it('runs a statement for each look-up of a client that waits for each answer', async () => {
  const count = await countStatements(async (nameOf) => {
    for (let round = 0; round < ROUNDS; round++) await nameOf(createAddress())
  })
  expect(count).toBe(ROUNDS)
})

it('shares statements among many look-ups that arrive one after another', async () => {
  const count = await countStatements(async (nameOf) => {
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all([nameOf(createAddress()), nameOf(createAddress())])
      const first = nameOf(createAddress())
      // the batch of this look-up waits for others during at most two of these turns of the event loop
      for (let turn = 0; turn < 5; turn++) await setImmediate()
      await Promise.all([first, nameOf(createAddress())])
    }
  })
  expect(count).toBeLessThan(3 * ROUNDS)
})

it('begins a statement at the end of a long turn of the event loop', async () => {
  const query = vi.spyOn(database.pool, 'query')
  const found = createBatchedLookups(database.pool, 'mainnet').nameOf(createAddress())
  await Promise.resolve()
  const startMs = performance.now()
  while (performance.now() - startMs < LONG_TURN_MS);
  await setImmediate()
  const count = query.mock.calls.length
  query.mockRestore()
  await found
  expect(count).toBe(1)
})
