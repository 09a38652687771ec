import { afterEach, expect, it, vi } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import { createFreshnessReader } from './freshness.js'

const database = useDatabase()

/** Ages of a cached freshness, ms: still current; read anew without a wait; too old to be served. */
const NEW_MS = 50
const READ_AGAIN_MS = 200
const OLD_MS = 500

afterEach(() => void vi.restoreAllMocks())

/** A reader, with its reads of the database and a clock that moves only by `wait`. */
async function setUp() {
  let nowMs = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const read = createFreshnessReader('mainnet', { pool: database.pool, chains: [] })
  await read()
  const query = vi.spyOn(database.pool, 'query')
  const wait = (ms: number) => {
    nowMs += ms
  }
  return { read, query, wait }
}

it('is cached', async () => {
  const { read, query, wait } = await setUp()
  wait(NEW_MS)
  await read()
  expect(query).not.toHaveBeenCalled()
})

it('is read anew before its end, by one read for which no request waits', async () => {
  const { read, query, wait } = await setUp()
  wait(READ_AGAIN_MS)
  query.mockReturnValue(new Promise(() => {}) as never)
  await read()
  await read()
  expect(query).toHaveBeenCalledTimes(1)
})

it('is not served after its end: requests share one read and wait for it', async () => {
  const { read, query, wait } = await setUp()
  wait(OLD_MS)
  await Promise.all([read(), read()])
  expect(query).toHaveBeenCalledTimes(1)
})

it('is read again after a read that failed', async () => {
  const { read, query, wait } = await setUp()
  wait(OLD_MS)
  query.mockRejectedValueOnce(new Error('lost') as never)
  await expect(read()).rejects.toThrow('lost')
  await read()
  expect(query).toHaveBeenCalledTimes(2)
})
