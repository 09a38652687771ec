import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  baseFeeOf,
  bumpFees,
  capFees,
  estimateFees,
  type Fees,
  MIN_PRIORITY_FEE_WEI,
  maxCostWei,
  outbid,
  priceCapWei,
} from './gasFees.js'

const GWEI = 1_000_000_000n
const NO_CAP = 2n ** 128n
const wei = fc.bigInt({ min: 0n, max: 10n ** 13n })
const estimate = fc
  .tuple(wei, fc.array(wei, { maxLength: 9 }))
  .map(([base, tips]) => estimateFees(base, tips))
const fees = fc.tuple(wei, wei).map(
  ([maxFeePerGas, tip]): Fees => ({
    maxFeePerGas,
    maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas,
  }),
)

/** Fees in gwei, or another unit. */
const of = (maxFee: bigint, tip: bigint, unit = GWEI): Fees => ({
  maxFeePerGas: maxFee * unit,
  maxPriorityFeePerGas: tip * unit,
})

describe('fees', () => {
  it('are twice the base fee and the median tip', () => {
    expect(estimateFees(10n * GWEI, [5n * GWEI, 1n * GWEI, 2n * GWEI])).toEqual(of(22n, 2n))
  })

  it('offer a least tip where a chain reports none', () => {
    const least = of(1n, 1n, MIN_PRIORITY_FEE_WEI)
    expect(estimateFees(0n, [])).toEqual(least)
    expect(estimateFees(0n, [0n, 0n])).toEqual(least)
  })

  it('rise at least 10 % and 1 wei in both fields, to at most 3 times the fresh estimate', () => {
    fc.assert(
      fc.property(fees, estimate, (previous, fresh) => {
        const raised = outbid(previous, fresh, NO_CAP)!
        for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
          expect(raised[field] * 100n >= previous[field] * 110n).toBe(true)
          expect(raised[field]).toBeGreaterThan(previous[field])
          expect(raised[field]).toBeGreaterThanOrEqual(fresh[field])
        }
        expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
        const base = baseFeeOf(fresh)
        const priceOf = ({ maxFeePerGas, maxPriorityFeePerGas: tip }: Fees) =>
          maxFeePerGas < base + tip ? maxFeePerGas : base + tip
        const isWithin =
          raised.maxFeePerGas <= 3n * fresh.maxFeePerGas && priceOf(raised) <= 3n * priceOf(fresh)
        expect(bumpFees(previous, fresh, NO_CAP)).toEqual(isWithin ? raised : null)
        // what is not replaced can be mined
        if (!isWithin) expect(previous.maxFeePerGas).toBeGreaterThanOrEqual(base)
      }),
      { numRuns: 500 },
    )
  })

  it('stop rising after a dozen steps while the estimate stays', () => {
    const fresh = estimateFees(GWEI, [GWEI])
    let steps = 0
    for (let next: Fees | null = fresh; next; next = bumpFees(next, fresh, NO_CAP)) steps++
    expect(steps).toBe(12)
  })

  it.each<
    [previous: [bigint, bigint], fresh: [bigint, bigint], raised: [bigint, bigint], because: string]
  >([
    [[9n, 0n], [9n, 0n], [10n, 1n], 'at least 1 wei'],
    [[101n, 11n], [1n, 1n], [112n, 13n], '10 %, rounded up'],
    [[100n, 10n], [111n, 12n], [111n, 12n], 'the fresh estimate is more'],
    [[10n, 10n], [50n, 50n], [50n, 50n], 'the tip may be all of it'],
  ])('of %s against %s rise to %s: %s', (previous, fresh, raised) => {
    expect(outbid(of(...previous, 1n), of(...fresh, 1n), NO_CAP)).toEqual(of(...raised, 1n))
  })

  it('rise to three times the fresh estimate’s price, and no further', () => {
    const fresh = estimateFees(100n * GWEI, [10n * GWEI])
    const bumped = (maxFee: bigint, tip: bigint) => bumpFees(of(maxFee, tip), fresh, NO_CAP)
    expect(bumped(300n, 200n)).toEqual(of(330n, 220n))
    expect(bumped(301n, 220n)).toBeNull()
    expect(bumped(572n, 10n)).toMatchObject({ maxPriorityFeePerGas: 11n * GWEI })
    expect(bumped(573n, 10n)).toBeNull()
  })

  it('and value make the most that a transaction costs', () => {
    expect(maxCostWei(21_000n, of(2n, 1n, 1n), 5n)).toBe(42_005n)
  })
})

describe('a cap on the price of gas', () => {
  const cap = fc.bigInt({ min: MIN_PRIORITY_FEE_WEI, max: 10n ** 13n })

  it('bounds whatever is signed, in any order of answers', () => {
    const change = fc.constantFrom('bump' as const, 'cancel' as const)
    fc.assert(
      fc.property(
        cap,
        fc.array(fc.tuple(change, estimate), { minLength: 1 }),
        (capWei, answers) => {
          let signed: Fees | null = null
          for (const [what, fresh] of answers) {
            const next: Fees | null = signed
              ? (what === 'bump' ? bumpFees : outbid)(signed, fresh, capWei)
              : capFees(fresh, capWei)
            signed = next ?? signed
            if (!signed) continue
            expect(signed.maxFeePerGas).toBeLessThanOrEqual(capWei)
            expect(signed.maxPriorityFeePerGas).toBeLessThanOrEqual(signed.maxFeePerGas)
          }
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('keeps a tip that nobody pays out of it', () => {
    const capped = capFees(estimateFees(10n * GWEI, [4_900n * GWEI]), 50n * GWEI)
    expect(capped).toEqual(of(50n, 50n))
    expect(capFees(estimateFees(50n * GWEI, []), 50n * GWEI)).toBeNull()
  })

  it('is twenty times the median of a day, and a gwei at least', () => {
    expect(priceCapWei([3n * GWEI, 1n * GWEI, 900n * GWEI])).toBe(60n * GWEI)
    expect(priceCapWei([1n, 2n])).toBe(GWEI)
    expect(priceCapWei([])).toBe(GWEI)
  })
})
