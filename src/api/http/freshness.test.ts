import { afterEach, expect, it, vi } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import { createFreshnessReader } from './freshness.js'

const database = useDatabase()

const CURRENT_AGE_MS = 50
/** Age of a cached value that is served while it is read again. */
const REFRESHED_AGE_MS = 200
/** Age of a cached value that is not served any more. */
const EXPIRED_AGE_MS = 500

afterEach(() => void vi.restoreAllMocks())

/** A reader that has read once, a spy on its queries, and a clock that moves only by `wait`. */
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
  wait(CURRENT_AGE_MS)
  await read()
  expect(query).not.toHaveBeenCalled()
})

it('is read anew before its end, by one read for which no request waits', async () => {
  const { read, query, wait } = await setUp()
  wait(REFRESHED_AGE_MS)
  query.mockReturnValue(new Promise(() => {}) as never)
  await read()
  await read()
  expect(query).toHaveBeenCalledTimes(1)
})

it('is not served after its end: requests share one read and wait for it', async () => {
  const { read, query, wait } = await setUp()
  wait(EXPIRED_AGE_MS)
  await Promise.all([read(), read()])
  expect(query).toHaveBeenCalledTimes(1)
})

it('is read again after a read that failed', async () => {
  const { read, query, wait } = await setUp()
  wait(EXPIRED_AGE_MS)
  query.mockRejectedValueOnce(new Error('lost') as never)
  await expect(read()).rejects.toThrow('lost')
  await read()
  expect(query).toHaveBeenCalledTimes(2)
})
