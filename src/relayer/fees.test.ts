import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from './backoff.js'
import { bumpFees, estimateFees, type Fees, MIN_PRIORITY_FEE_WEI, maxCostWei, raiseFees } from './fees.js'

const GWEI = 1_000_000_000n
const wei = fc.bigInt({ min: 0n, max: 10n ** 13n })
const estimate = fc.tuple(wei, fc.array(wei, { maxLength: 9 })).map(([base, tips]) => estimateFees(base, tips))
const fees = fc
  .tuple(wei, wei)
  .map(([maxFeePerGas, tip]): Fees => ({ maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas }))

describe('fees', () => {
  it('are twice the base fee and the median tip', () => {
    expect(estimateFees(10n * GWEI, [5n * GWEI, 1n * GWEI, 2n * GWEI])).toEqual({
      maxFeePerGas: 22n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI,
    })
  })

  it('offer a least tip where a chain reports none', () => {
    const least = { maxFeePerGas: MIN_PRIORITY_FEE_WEI, maxPriorityFeePerGas: MIN_PRIORITY_FEE_WEI }
    expect(estimateFees(0n, [])).toEqual(least)
    expect(estimateFees(0n, [0n, 0n])).toEqual(least)
  })

  it('rise by 10 % in both fields, rounded up, or to the fresh estimate', () => {
    const previous = { maxFeePerGas: 101n, maxPriorityFeePerGas: 10n }
    expect(bumpFees(previous, { maxFeePerGas: 50n, maxPriorityFeePerGas: 20n })).toEqual({
      maxFeePerGas: 112n,
      maxPriorityFeePerGas: 20n,
    })
  })

  it('rise at least 10 % and 1 wei in both fields, to at most 3 times the fresh estimate', () => {
    fc.assert(
      fc.property(fees, estimate, (previous, fresh) => {
        const raised = raiseFees(previous, fresh)
        for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
          expect(raised[field] * 100n >= previous[field] * 110n).toBe(true)
          expect(raised[field]).toBeGreaterThan(previous[field])
          expect(raised[field]).toBeGreaterThanOrEqual(fresh[field])
        }
        expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
        const isWithin =
          raised.maxFeePerGas <= 3n * fresh.maxFeePerGas &&
          raised.maxPriorityFeePerGas <= 3n * fresh.maxPriorityFeePerGas
        expect(bumpFees(previous, fresh)).toEqual(isWithin ? raised : null)
      }),
      { numRuns: 500 },
    )
  })

  it('stop rising after a dozen steps while the estimate stays', () => {
    const fresh = estimateFees(GWEI, [GWEI])
    let steps = 0
    for (let next: Fees | null = fresh; next; next = bumpFees(next, fresh)) steps++
    expect(steps).toBe(12)
  })

  it('and value make the most that a transaction costs', () => {
    expect(maxCostWei(21_000n, { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }, 5n)).toBe(42_005n)
  })
})

describe('pauses', () => {
  it('are 5 s, 10, 30, 60, 3 min … 1 h', () => {
    const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map((failures) => backoffMs(failures, 0.5) / 60_000)
    expect(minutes).toEqual([5 / 60, 10 / 60, 0.5, 1, 3, 10, 30, 60, 60, 60])
  })

  it('vary by a fifth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const middle = backoffMs(failures, 0.5)
        expect(Math.abs(backoffMs(failures, random) - middle)).toBeLessThanOrEqual(middle * 0.2 + 1)
      }),
    )
  })
})
