import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
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

  it.each<[tips: bigint[], median: bigint]>([
    [[7_000_000n], 7_000_000n],
    [[9_000_000n, 2_000_000n], 9_000_000n],
    [[30_000_000n, 4_000_000n, 100_000_000n], 30_000_000n],
    [[100_000_000n, 9_000_000n, 20_000_000n, 3_000_000n], 20_000_000n],
    [[1_000_001n, 1_000_001n, 1_000_000n], 1_000_001n],
    [[999_999n], 1_000_000n],
  ])('take the median of the tips by their value: %s, %s', (tips, median) => {
    expect(estimateFees(0n, tips)).toEqual({ maxFeePerGas: median, maxPriorityFeePerGas: median })
    expect(estimateFees(3n, tips).maxFeePerGas).toBe(6n + median)
  })

  it.each<[previous: [bigint, bigint], fresh: [bigint, bigint], raised: [bigint, bigint]]>([
    // at least 1 wei, where 10 % are less
    [
      [1n, 1n],
      [1n, 1n],
      [2n, 2n],
    ],
    [
      [9n, 0n],
      [9n, 0n],
      [10n, 1n],
    ],
    // 10 % exactly, and rounded up
    [
      [100n, 10n],
      [1n, 1n],
      [110n, 11n],
    ],
    [
      [101n, 11n],
      [1n, 1n],
      [112n, 13n],
    ],
    // the fresh estimate where that is more
    [
      [100n, 10n],
      [111n, 12n],
      [111n, 12n],
    ],
    // the tip is part of the whole
    [
      [10n, 10n],
      [1n, 50n],
      [50n, 50n],
    ],
  ])('of %s against %s rise to %s', (previous, fresh, raised) => {
    const feesOf = ([maxFeePerGas, maxPriorityFeePerGas]: [bigint, bigint]): Fees => ({
      maxFeePerGas,
      maxPriorityFeePerGas,
    })
    expect(raiseFees(feesOf(previous), feesOf(fresh))).toEqual(feesOf(raised))
  })

  it('rise to three times the fresh estimate in each field, and no further', () => {
    const fresh = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }
    const bumped = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) =>
      bumpFees({ maxFeePerGas, maxPriorityFeePerGas }, fresh)
    expect(bumped(272n, 10n)).toEqual({ maxFeePerGas: 300n, maxPriorityFeePerGas: 11n })
    expect(bumped(273n, 10n)).toBeNull()
    expect(bumped(100n, 27n)).toEqual({ maxFeePerGas: 110n, maxPriorityFeePerGas: 30n })
    expect(bumped(100n, 28n)).toBeNull()
  })

  it('and value make the most that a transaction costs', () => {
    expect(maxCostWei(21_000n, { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }, 5n)).toBe(42_005n)
  })
})
