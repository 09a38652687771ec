import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from './backoff.js'

const EXECUTION = { kind: 'execute', nonce: null } as const

describe('pauses', () => {
  it('are 5 s, 10, 30, 60, 3 min … 1 h', () => {
    const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map((failures) => backoffMs(EXECUTION, failures, 0.5) / 60_000)
    expect(minutes).toEqual([5 / 60, 10 / 60, 0.5, 1, 3, 10, 30, 60, 60, 60])
  })

  it('vary by a fifth', () => {
    expect([0, 0.5, 0.75].map((random) => backoffMs(EXECUTION, 1, random))).toEqual([4_000, 5_000, 5_500])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const middle = backoffMs(EXECUTION, failures, 0.5)
        expect(Math.abs(backoffMs(EXECUTION, failures, random) - middle)).toBeLessThanOrEqual(middle * 0.2 + 1)
      }),
    )
  })

  it('of a refusal are a minute at most: its payment is held for an hour', () => {
    const pauses = [1, 3, 4, 5, 100].map((failures) => backoffMs({ kind: 'refuse', nonce: null }, failures, 0.5))
    expect(pauses).toEqual([5_000, 30_000, 60_000, 60_000, 60_000])
    expect(backoffMs({ kind: 'refuse', nonce: null }, 9, 0.999)).toBe(60_000)
  })

  it('of a job that holds a nonce are a minute at most: all later nonces wait for it', () => {
    const pauses = [1, 3, 4, 5, 100].map((failures) => backoffMs({ kind: 'execute', nonce: 0 }, failures, 0.5))
    expect(pauses).toEqual([5_000, 30_000, 60_000, 60_000, 60_000])
  })
})
