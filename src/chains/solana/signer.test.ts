import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorName, unitPrice } from './signer.js'

describe('the price of a compute unit', () => {
  it.each([
    [700, 0, 700],
    [700, 1, 2_000],
    [700, 2, 4_000],
    [700, 3, 8_000],
    [0, 0, 0],
    [0, 1, 2_000],
    [0, 2, 4_000],
    [5_000, 0, 5_000],
    [5_000, 1, 10_000],
    [5_000, 2, 20_000],
  ])(
    'is the usual one at first, then twice that of the attempt before, from a thousandth of a lamport on: of %d, attempt %d',
    (usual, attempt, price) => {
      expect(unitPrice(usual, attempt, 10 ** 9)).toBe(price)
    },
  )

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
