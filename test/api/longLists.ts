import type pg from 'pg'
import { onTestFinished } from 'vitest'

/** Entries that a test appends in one transaction. */
export const BATCH_ENTRIES = 2_000

/** Watches how many rows the statements of a pool return. */
export function countRows(pool: pg.Pool) {
  const plain = pool.query
  const counts: number[] = []
  const query = async (...given: unknown[]) => {
    const result = await Reflect.apply(plain, pool, given)
    counts.push(result.rows.length)
    return result
  }
  Object.assign(pool, { query })
  const end = () => void Object.assign(pool, { query: plain })
  onTestFinished(end)
  return {
    /** Stops watching. */
    end,
    most: (): number => Math.max(0, ...counts),
    sum: (): number => counts.reduce((sum, count) => sum + count, 0),
  }
}
