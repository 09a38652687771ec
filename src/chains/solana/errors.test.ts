import { describe, expect, it } from 'vitest'
import { errorName } from './errors.js'

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
