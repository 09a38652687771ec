import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultAmountWei, parseAmountWei } from './amount.js'

const MAX_UINT256 = 2n ** 256n - 1n

it.each([
  [0n, 10n ** 16n],
  [10n ** 16n, 10n ** 16n],
  [10n ** 16n + 1n, 10n ** 16n + 1n],
])('with a minimum of %d wei, a bid without an amount has %d wei', (minimum, amount) => {
  expect(defaultAmountWei(minimum)).toBe(amount)
})

describe('parseAmountWei', () => {
  it('parses every unsigned 256-bit integer in canonical decimal form', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX_UINT256 }), (wei) => {
        expect(parseAmountWei(String(wei))).toBe(wei)
      }),
    )
    expect(parseAmountWei('0')).toBe(0n)
    expect(parseAmountWei(String(MAX_UINT256))).toBe(MAX_UINT256)
  })

  it.each([
    '',
    ' 12',
    '12\n',
    '+1',
    '-1',
    '00',
    '01',
    '1.0',
    '1e18',
    '0x10',
    '1_000',
    '١٢', // Arabic digits, which \d with the u flag of other languages takes
    String(MAX_UINT256 + 1n),
    '1'.repeat(79),
    '1'.repeat(100_000),
  ])('refuses %j', (input) => {
    expect(parseAmountWei(input)).toBeNull()
  })

  it.each([0, 1, 1n, 1e18, true, null, undefined, [], ['1'], {}, { toString: () => '1' }])(
    'refuses other types than strings: %s',
    (input) => {
      expect(parseAmountWei(input)).toBeNull()
    },
  )
})
