import { describe, expect, it } from 'vitest'
import { staleHeadAgeMs } from '../ops/chainState.js'
import { BlockTimeEstimator } from './headClock.js'

const clockOf = (...heads: [number: number, seconds: number][]): BlockTimeEstimator => {
  const clock = new BlockTimeEstimator()
  for (const [number, seconds] of heads) clock.see({ number, timestampMs: seconds * 1_000 })
  return clock
}

describe('the usual time between blocks', () => {
  it('is not known before the second head', () => {
    expect(clockOf().blockMs).toBeNull()
    expect(clockOf([5, 60], [5, 60]).blockMs).toBeNull()
  })

  it('is the median over the heads, and takes skipped blocks into account', () => {
    expect(clockOf([1, 12], [2, 24], [4, 48]).blockMs).toBe(12_000)
  })

  it('is moved by neither a stall nor one node with a made-up head', () => {
    expect(clockOf([1, 12], [2, 24], [3, 7_200], [4, 7_212], [5, 7_224]).blockMs).toBe(12_000)
    expect(
      clockOf([1, 12], [2, 24], [3, 36], [9_999_999, 37], [4, 48], [5, 60], [6, 72]).blockMs,
    ).toBe(12_000)
  })

  it('sets the alarm limit: 20 blocks, at least a minute', () => {
    expect(staleHeadAgeMs(12_000)).toBe(240_000)
    expect(staleHeadAgeMs(250)).toBe(60_000)
    expect(staleHeadAgeMs(null)).toBe(300_000)
  })
})
