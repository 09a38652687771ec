import { expect } from 'vitest'

/**
 * Runs synchronous work and expects it to take less than `limitMs` of this process's processor time. A busy machine
 * does not count, a decoding in quadratic time does.
 *
 * @returns what the work returns
 */
export function expectWithin<T>(limitMs: number, work: () => T): T {
  const before = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(limitMs)
  return result
}
