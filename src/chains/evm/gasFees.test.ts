import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  baseFeePerGasOf,
  capGasFees,
  defaultGasPriceCapWei,
  doubledGasFees,
  estimateGasFees,
  type GasFees,
  MIN_PRIORITY_FEE_WEI,
  maxTransactionCostWei,
  replacementGasFees,
} from './gasFees.js'

const GWEI = 1_000_000_000n
const NO_CAP = 2n ** 128n
const weiArbitrary = fc.bigInt({ min: 0n, max: 10n ** 13n })
const estimateArbitrary = fc
  .tuple(weiArbitrary, fc.array(weiArbitrary, { maxLength: 9 }))
  .map(([base, tips]) => estimateGasFees(base, tips))
const feesArbitrary = fc.tuple(weiArbitrary, weiArbitrary).map(
  ([maxFeePerGas, tip]): GasFees => ({
    maxFeePerGas,
    maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas,
  }),
)

/** Fees in gwei, or in another unit. */
const feesOf = (maxFee: bigint, tip: bigint, unit = GWEI): GasFees => ({
  maxFeePerGas: maxFee * unit,
  maxPriorityFeePerGas: tip * unit,
})

describe('fees', () => {
  it('are twice the base fee and the median tip', () => {
    expect(estimateGasFees(10n * GWEI, [5n * GWEI, 1n * GWEI, 2n * GWEI])).toEqual(feesOf(22n, 2n))
  })

  it('offer a least tip where a chain reports none', () => {
    const least = feesOf(1n, 1n, MIN_PRIORITY_FEE_WEI)
    expect(estimateGasFees(0n, [])).toEqual(least)
    expect(estimateGasFees(0n, [0n, 0n])).toEqual(least)
  })

  it('offer the tip that the node asks for, where recent blocks show less', () => {
    expect(estimateGasFees(10n * GWEI, [1n * GWEI], 30n * GWEI)).toEqual(feesOf(50n, 30n))
    expect(estimateGasFees(10n * GWEI, [40n * GWEI], 30n * GWEI)).toEqual(feesOf(60n, 40n))
  })

  it('rise at least 10 % and 1 wei in both fields', () => {
    fc.assert(
      fc.property(feesArbitrary, estimateArbitrary, (previous, fresh) => {
        const raised = replacementGasFees(previous, fresh, NO_CAP)!
        for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
          expect(raised[field] * 100n >= previous[field] * 110n).toBe(true)
          expect(raised[field]).toBeGreaterThan(previous[field])
          expect(raised[field]).toBeGreaterThanOrEqual(fresh[field])
        }
        expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
      }),
      { numRuns: 500 },
    )
  })

  it.each<
    [previous: [bigint, bigint], fresh: [bigint, bigint], raised: [bigint, bigint], because: string]
  >([
    [[9n, 0n], [9n, 0n], [10n, 1n], 'at least 1 wei'],
    [[101n, 11n], [1n, 1n], [112n, 13n], '10 %, rounded up'],
    [[100n, 10n], [111n, 12n], [111n, 12n], 'the fresh estimate is more'],
    [[10n, 10n], [50n, 50n], [50n, 50n], 'the tip may be all of it'],
  ])('of %s against %s rise to %s: %s', (previous, fresh, raised) => {
    expect(replacementGasFees(feesOf(...previous, 1n), feesOf(...fresh, 1n), NO_CAP)).toEqual(
      feesOf(...raised, 1n),
    )
  })

  it('rise to the cap, and no further', () => {
    const fresh = estimateGasFees(100n * GWEI, [10n * GWEI])
    const raised = (maxFee: bigint, tip: bigint) =>
      replacementGasFees(feesOf(maxFee, tip), fresh, 330n * GWEI)
    expect(raised(300n, 200n)).toEqual(feesOf(330n, 220n))
    expect(raised(301n, 220n)).toBeNull()
  })

  it.each<
    [
      offered: [bigint, bigint],
      fresh: [bigint, bigint],
      cap: bigint,
      next: [bigint, bigint] | null,
      because: string,
    ]
  >([
    [[10n, 1n], [3n, 1n], 100n, [20n, 2n], 'twice what no pool took'],
    [[10n, 1n], [80n, 30n], 100n, [80n, 30n], 'the fresh estimate is more'],
    [[60n, 20n], [3n, 1n], 100n, [100n, 40n], 'the price meets the cap'],
    [[100n, 60n], [3n, 1n], 100n, [100n, 100n], 'the tip rises alone, to the cap'],
    [[100n, 100n], [3n, 1n], 100n, null, 'the cap allows no more'],
    [[10n, 1n], [203n, 1n], 100n, null, 'the base fee is above the cap'],
  ])('of %s that no pool took, against %s under %s, become %s: %s', (offered, fresh, cap, next) => {
    const fees = doubledGasFees(
      feesOf(...offered, MIN_PRIORITY_FEE_WEI),
      feesOf(...fresh, MIN_PRIORITY_FEE_WEI),
      cap * MIN_PRIORITY_FEE_WEI,
    )
    expect(fees).toEqual(next && feesOf(...next, MIN_PRIORITY_FEE_WEI))
  })

  it('find any price floor under the cap, and pay less than twice the largest of floor, estimate and first offer', () => {
    const floors = fc.bigInt({ min: MIN_PRIORITY_FEE_WEI, max: 10n ** 12n })
    const caps = fc.bigInt({ min: MIN_PRIORITY_FEE_WEI, max: 10n ** 12n })
    fc.assert(
      fc.property(estimateArbitrary, floors, caps, (fresh, floorWei, roomWei) => {
        const baseWei = baseFeePerGasOf(fresh)
        const capWei = baseWei + floorWei + roomWei
        const isTaken = ({ maxFeePerGas, maxPriorityFeePerGas }: GasFees) =>
          maxPriorityFeePerGas >= floorWei && maxFeePerGas >= baseWei + floorWei
        let fees = capGasFees(fresh, capWei)!
        let offers = 1
        while (!isTaken(fees)) {
          const next = doubledGasFees(fees, fresh, capWei)
          expect(next, 'more is offered as long as the pool takes nothing').not.toBeNull()
          fees = next!
          offers += 1
          expect(fees.maxFeePerGas).toBeLessThanOrEqual(capWei)
          expect(fees.maxPriorityFeePerGas).toBeLessThanOrEqual(fees.maxFeePerGas)
        }
        // a trillion is 20 doublings of a million, and both fields may have to reach the cap
        expect(offers).toBeLessThanOrEqual(42)
        const most = [fresh.maxPriorityFeePerGas, floorWei, baseWei + floorWei]
        const highest = most.reduce((a, b) => (a > b ? a : b))
        expect(fees.maxPriorityFeePerGas).toBeLessThan(2n * highest)
      }),
      { numRuns: 1_000 },
    )
  })

  it('and value make the most that a transaction costs', () => {
    expect(maxTransactionCostWei(21_000n, feesOf(2n, 1n, 1n), 5n)).toBe(42_005n)
  })
})

describe('a cap on the price of gas', () => {
  const cap = fc.bigInt({ min: MIN_PRIORITY_FEE_WEI, max: 10n ** 13n })

  it('bounds whatever is signed, in any order of answers', () => {
    const change = fc.constantFrom(replacementGasFees, doubledGasFees)
    fc.assert(
      fc.property(
        cap,
        fc.array(fc.tuple(change, estimateArbitrary), { minLength: 1 }),
        (capWei, answers) => {
          let signed: GasFees | null = null
          for (const [raise, fresh] of answers) {
            const next: GasFees | null = signed
              ? raise(signed, fresh, capWei)
              : capGasFees(fresh, capWei)
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
    const capped = capGasFees(estimateGasFees(10n * GWEI, [4_900n * GWEI]), 50n * GWEI)
    expect(capped).toEqual(feesOf(50n, 50n))
    expect(capGasFees(estimateGasFees(50n * GWEI, []), 50n * GWEI)).toBeNull()
  })

  it('is twenty times the median of a day, and a gwei at least', () => {
    expect(defaultGasPriceCapWei([3n * GWEI, 1n * GWEI, 900n * GWEI])).toBe(60n * GWEI)
    expect(defaultGasPriceCapWei([1n, 2n])).toBe(GWEI)
    expect(defaultGasPriceCapWei([])).toBe(GWEI)
    expect(defaultGasPriceCapWei([GWEI], 30n * GWEI)).toBe(600n * GWEI)
  })
})
