import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unitPrice } from './signer.js'

describe('the price of a compute unit', () => {
  it('is the usual one at first, then twice that of the attempt before, from a thousandth of a lamport on', () => {
    expect([0, 1, 2, 3].map((attempt) => unitPrice(700, attempt, 10 ** 9))).toEqual([700, 2_000, 4_000, 8_000])
    expect([0, 1, 2].map((attempt) => unitPrice(0, attempt, 10 ** 9))).toEqual([0, 2_000, 4_000])
    expect([0, 1, 2].map((attempt) => unitPrice(5_000, attempt, 10 ** 9))).toEqual([5_000, 10_000, 20_000])
  })

  it('never exceeds the cap, however often it was tried', () => {
    fc.assert(
      fc.property(fc.nat(10 ** 9), fc.nat(10_000), fc.nat(10 ** 6), (usual, attempt, max) => {
        const price = unitPrice(usual, attempt, max)
        expect(price).toBeLessThanOrEqual(max)
        expect(price).toBeGreaterThanOrEqual(Math.min(usual, max))
      }),
    )
  })
})
