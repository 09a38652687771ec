import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorName, unitPrice } from './signer.js'

describe('the price of a compute unit', () => {
  it('is the usual one at first, then twice that of the attempt before, from a thousandth of a lamport on', () => {
    expect([0, 1, 2, 3].map((attempt) => unitPrice(700, attempt, 10 ** 9))).toEqual([
      700, 2_000, 4_000, 8_000,
    ])
    expect([0, 1, 2].map((attempt) => unitPrice(0, attempt, 10 ** 9))).toEqual([0, 2_000, 4_000])
    expect([0, 1, 2].map((attempt) => unitPrice(5_000, attempt, 10 ** 9))).toEqual([
      5_000, 10_000, 20_000,
    ])
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

describe('the name of a transaction’s error', () => {
  it.each([
    ['BlockhashNotFound', 'blockhash_not_found'],
    [{ InstructionError: [0, { Custom: 6015 }] }, 'payment_not_held'],
    [{ InstructionError: [0, { Custom: 6009 }] }, 'wrong_authority'],
    [{ InstructionError: [1, { Custom: 77 }] }, 'custom_77'],
    [{ InstructionError: [0, 'InvalidAccountData'] }, 'invalid_account_data'],
    [{ InsufficientFundsForRent: { account_index: 0 } }, 'insufficient_funds_for_rent'],
    [null, 'failed'],
    [{}, 'failed'],
    [`https://node.example/${'k'.repeat(200)}`, /^[a-z0-9_]{1,60}$/],
  ])('of %j', (err, name) => {
    if (typeof name === 'string') expect(errorName(err)).toBe(name)
    else expect(errorName(err)).toMatch(name)
  })
})
