import { describe, expect, it } from 'vitest'
import { backoffMs } from './index.js'

const EXECUTION = { kind: 'execute', nonce: null } as const
const pausesAfter = (job: Parameters<typeof backoffMs>[0], ...failures: number[]) =>
  failures.map((count) => backoffMs(job, count, 0.5) / 1_000)

describe('pauses', () => {
  it('grow from 5 s to an hour, and vary by a fifth', () => {
    expect(pausesAfter(EXECUTION, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100)).toEqual([
      5, 10, 30, 60, 180, 600, 1800, 3600, 3600, 3600,
    ])
    expect([0, 0.5, 0.75, 1].map((random) => backoffMs(EXECUTION, 1, random))).toEqual([4_000, 5_000, 5_500, 6_000])
  })

  it.each([
    ['a refusal: its payment is held for an hour', { kind: 'refuse', nonce: null }],
    ['what holds a nonce: all later ones wait for it', { kind: 'execute', nonce: 0 }],
  ] as const)('are a minute at most for %s', (_, job) => {
    expect(pausesAfter(job, 1, 3, 4, 5, 100)).toEqual([5, 30, 60, 60, 60])
    expect(backoffMs(job, 9, 0.999)).toBe(60_000)
  })
})
