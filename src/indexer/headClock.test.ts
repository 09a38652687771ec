import { describe, expect, it } from 'vitest'
import { staleHeadAgeMs } from '../ops/chainState.js'
import { BlockTimeEstimator, headPollPauseMs } from './headClock.js'

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

describe('the pause before the next poll', () => {
  const regular = (seconds: number, count = 9) =>
    clockOf(...Array.from({ length: count }, (_, i): [number, number] => [i, i * seconds]))
  const pauseOf = (clock: BlockTimeEstimator, sinceMs: number, lead = Number.NaN) =>
    headPollPauseMs(clock, { pollMs: 2_000, sinceMs, lead })

  it('ends when the next block can exist, and is short from then on', () => {
    expect([0, 4_000, 9_000, 60_000].map((ms) => pauseOf(regular(12), ms))).toEqual([
      10_000, 6_000, 2_000, 2_000,
    ])
  })

  it('leaves the next head to a socket that showed the last one, but not for long', () => {
    expect([0, 14_000, 16_000].map((ms) => pauseOf(regular(12), ms, 0))).toEqual([
      15_000, 2_000, 2_000,
    ])
    expect(pauseOf(regular(4), 0, 0)).toBe(6_000)
  })

  it('is short on a fast chain, on one whose blocks come at any time, and at first', () => {
    const irregular = clockOf(
      [0, 0],
      ...[1, 2, 3, 4, 5, 6, 7].map((n): [number, number] => [n, n * 60]),
      [8, 421],
    )
    for (const clock of [regular(1), irregular, regular(12, 8)])
      expect(pauseOf(clock, 0)).toBe(2_000)
  })

  it('is short where blocks come in bursts, which polls see as averages, or on demand', () => {
    const bursts = clockOf(
      ...Array.from({ length: 16 }, (_, i): [number, number] => [3 * i, 40 * i + 3 * (i % 3) ** 3]),
    )
    for (const clock of [bursts, regular(16), regular(600)])
      for (const lead of [0, -1]) expect(pauseOf(clock, 0, lead)).toBe(2_000)
  })

  it('is a quarter of a minute at most', () => {
    expect(pauseOf(regular(15), 0, 0)).toBe(15_000)
  })

  it('is short while a node is behind the socket', () => {
    expect([-1, 0, 1].map((lead) => pauseOf(regular(12), 0, lead))).toEqual([10_000, 15_000, 2_000])
  })

  it('is short again at the first sign of faster blocks', () => {
    const clock = regular(12)
    clock.see({ number: 9, timestampMs: 98_000 })
    expect(pauseOf(clock, 0)).toBe(2_000)
  })
})
