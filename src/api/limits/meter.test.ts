import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApiError } from '../http/errors.js'
import { createLocalBuckets, RequestMeter } from './meter.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Creates the buckets of a process, and functions that charge clients of given names. */
function createBuckets() {
  const buckets = createLocalBuckets()
  const meterOf = (...names: string[]) =>
    new RequestMeter(
      buckets,
      names.map((bucket) => ({
        kind: 'address',
        bucket,
        rate: { perSecond: 50, burst: 300 },
      })),
    )
  const spend = (name: string, units: number): ApiError | null => {
    try {
      meterOf(name).spend(units)
      return null
    } catch (error) {
      return error as ApiError
    }
  }
  return { buckets, meterOf, spend }
}

describe('the buckets of a process', () => {
  it('refuse too many units, return the wait, and allow them afterwards', () => {
    const { spend, meterOf } = createBuckets()
    expect(spend('a', 290)).toBeNull()
    const refused = spend('a', 60)
    expect(refused).toMatchObject({
      code: 'rate_limited',
      limit: 'address',
      headers: { 'retry-after': '1' },
    })
    expect(spend('b', 60)).toBeNull()
    vi.advanceTimersByTime(1_000)
    expect(spend('a', 60)).toBeNull()
    expect(meterOf('a').rateLimitHeaders()).toEqual([
      ...['ratelimit-policy', '"address";q=300;w=6'],
      ...['ratelimit', '"address";r=0;t=6'],
    ])
  })

  it('withdraw from every bucket of a client, or from none', () => {
    const { meterOf } = createBuckets()
    meterOf('a').spend(300)
    expect(() => meterOf('b', 'a').spend(1)).toThrow(/"address"/)
    expect(meterOf('b').rateLimitHeaders().at(-1)).toBe('"address";r=300;t=0')
  })

  it('accept units that were not spent', () => {
    const { meterOf, spend } = createBuckets()
    expect(spend('a', 300)).toBeNull()
    meterOf('a').owe(-4)
    expect(spend('a', 5)).not.toBeNull()
    expect(spend('a', 4)).toBeNull()
  })

  it('go into debt for what a client owes, and refuse until it is paid', () => {
    const { meterOf, spend } = createBuckets()
    meterOf('a').owe(350)
    expect(spend('a', 1)?.headers).toMatchObject({ 'retry-after': '2' })
    vi.advanceTimersByTime(1_100)
    expect(spend('a', 1)).toBeNull()
  })

  it('are limited in number, and the least recently used one is dropped', () => {
    const { buckets, spend } = createBuckets()
    for (let i = 0; i < 110_000; i++) {
      expect(spend(`address ${i}`, 1)).toBeNull()
      if (i % 50_000 === 0) spend('flood', 300)
    }
    expect(buckets.size).toBe(100_000)
    expect(spend('flood', 300)).not.toBeNull()
  })

  it('limit nothing without quotas', () => {
    const { meterOf } = createBuckets()
    meterOf().spend(1e9)
    expect(meterOf().rateLimitHeaders()).toEqual([])
  })
})
