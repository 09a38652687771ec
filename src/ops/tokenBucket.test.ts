import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { availableUnits, type BucketRate, withdrawUnits } from './tokenBucket.js'

const RATE: BucketRate = { perSecond: 50, burst: 300 }
const rates = fc.record({
  perSecond: fc.integer({ min: 1, max: 10_000 }),
  burst: fc.integer({ min: 1, max: 10_000 }),
})
const steps = fc.array(
  fc.record({ afterMs: fc.nat(5_000), units: fc.integer({ min: 1, max: 400 }) }),
  {
    maxLength: 60,
  },
)

/** Textbook implementation of a token bucket: a token count that is increased by the elapsed time. */
function tokens({ perSecond, burst }: BucketRate) {
  let held = burst
  return {
    pass: (ms: number) => {
      held = Math.min(burst, held + (ms * perSecond) / 1_000)
    },
    take(units: number): boolean {
      const isGiven = held + 1e-6 >= Math.min(units, burst)
      if (isGiven) held -= units
      return isGiven
    },
    held: () => Math.max(0, Math.floor(held + 1e-6)),
  }
}

describe('a token bucket', () => {
  it('allows the same withdrawals as a textbook bucket', () => {
    fc.assert(
      fc.property(rates, steps, (rate, asked) => {
        const model = tokens(rate)
        let fullMs = 0
        let nowMs = 1_000_000
        for (const { afterMs, units } of asked) {
          nowMs += afterMs
          model.pass(afterMs)
          const made = withdrawUnits(rate, fullMs, nowMs, units)
          expect(made.waitMs === 0).toBe(model.take(units))
          fullMs = made.fullMs
          expect(availableUnits(rate, fullMs, nowMs)).toBe(model.held())
        }
      }),
    )
  })

  it('allows a withdrawal after the returned wait, and a refusal withdraws nothing', () => {
    fc.assert(
      fc.property(rates, steps, (rate, asked) => {
        let fullMs = 0
        let nowMs = 1_000_000
        for (const { afterMs, units } of asked) {
          nowMs += afterMs
          const made = withdrawUnits(rate, fullMs, nowMs, units)
          if (made.waitMs > 0) {
            expect(availableUnits(rate, made.fullMs, nowMs)).toBe(
              availableUnits(rate, fullMs, nowMs),
            )
            expect(
              withdrawUnits(rate, made.fullMs, nowMs + made.waitMs + 0.001, units).waitMs,
            ).toBe(0)
          }
          fullMs = made.fullMs
        }
      }),
    )
  })

  it('allows its burst at once, then its rate', () => {
    let fullMs = 0
    const take = (nowMs: number) => {
      const made = withdrawUnits(RATE, fullMs, nowMs, 1)
      fullMs = made.fullMs
      return made.waitMs
    }
    for (let i = 0; i < RATE.burst; i++) expect(take(5_000.123)).toBe(0)
    expect(take(5_000.123)).toBeCloseTo(20)
    expect(take(5_020.124)).toBe(0)
    expect(take(5_020.124)).toBeGreaterThan(0)
  })
})
