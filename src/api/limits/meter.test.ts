import { describe, expect, it } from 'vitest'
import type { BucketQuota } from '../../ops/tokenBucket.js'
import type { ApiError } from '../http/errors.js'
import { LocalBuckets } from './meter.js'

const quota = (bucket: string): BucketQuota => ({
  kind: 'address',
  bucket,
  rate: { perSecond: 50, burst: 300 },
})

/** Buckets with a stopped clock. */
function fixture(max?: number) {
  const clock = { ms: 1_000 }
  const buckets = new LocalBuckets(() => clock.ms, max)
  const spend = (name: string, units: number): ApiError | null => {
    try {
      buckets.withdraw([quota(name)], units)
      return null
    } catch (error) {
      return error as ApiError
    }
  }
  return { clock, buckets, spend }
}

describe('the buckets of a process', () => {
  it('refuse too many units, return the wait, and allow them afterwards', () => {
    const { clock, spend, buckets } = fixture()
    expect(spend('a', 290)).toBeNull()
    const refused = spend('a', 60)
    expect(refused).toMatchObject({
      code: 'rate_limited',
      limit: 'address',
      headers: { 'retry-after': '1' },
    })
    expect(spend('b', 60)).toBeNull()
    clock.ms += 1_000
    expect(spend('a', 60)).toBeNull()
    expect(buckets.fields([quota('a')])).toEqual([
      ...['ratelimit-policy', '"address";q=300;w=6'],
      ...['ratelimit', '"address";r=0;t=6'],
    ])
  })

  it('withdraw from every bucket of a client, or from none', () => {
    const { buckets } = fixture()
    buckets.withdraw([quota('a')], 300)
    expect(() => buckets.withdraw([quota('b'), quota('a')], 1)).toThrow(/"address"/)
    expect(buckets.fields([quota('b')]).at(-1)).toBe('"address";r=300;t=0')
  })

  it('accept units that were not spent', () => {
    const { buckets, spend } = fixture()
    expect(spend('a', 300)).toBeNull()
    buckets.giveBack([quota('a')], 4)
    expect(spend('a', 5)).not.toBeNull()
    expect(spend('a', 4)).toBeNull()
  })

  it('are limited in number, and the least recently used one is dropped', () => {
    const { buckets, spend } = fixture(100)
    for (let i = 0; i < 10_000; i++) {
      expect(spend(`address ${i}`, 1)).toBeNull()
      if (i % 50 === 0) spend('flood', 300)
    }
    expect(buckets.size).toBe(100)
    expect(spend('flood', 300)).not.toBeNull()
  })
})
