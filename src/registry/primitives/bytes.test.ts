import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bigIntToWord, fromHex, mapKey, toHex, txKeyOfHash, wordToBigInt } from './bytes.js'

const bytes = fc.uint8Array({ maxLength: 64 })

describe('bytes', () => {
  it('have a unique Map key', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(mapKey(a) === mapKey(b)).toBe(Buffer.compare(a, b) === 0)
        expect(mapKey(a)).toBe(mapKey(Buffer.from(a)))
        expect(mapKey(Uint8Array.of(0, ...a).subarray(1))).toBe(mapKey(a))
      }),
    )
  })

  it('are converted to hex and back', () => {
    fc.assert(
      fc.property(bytes, (a) => {
        expect(fromHex(toHex(a)).equals(a)).toBe(true)
      }),
    )
  })

  it('of a word are converted to an integer and back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
        expect(bigIntToWord(value)).toHaveLength(32)
        expect(wordToBigInt(bigIntToWord(value))).toBe(value)
      }),
    )
    expect(bigIntToWord(0n).equals(Buffer.alloc(32))).toBe(true)
  })

  it.each([-1n, -(2n ** 255n), 2n ** 256n, 2n ** 300n])('cannot be a word of %d', (value) => {
    expect(() => bigIntToWord(value)).toThrow(
      new RangeError(`${value} does not fit an unsigned 256-bit word`),
    )
  })

  it('of any length are read as an unsigned integer, at any offset of their buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (a) => {
        const value = BigInt(`0x${Buffer.from(a).toString('hex')}`)
        expect(wordToBigInt(a)).toBe(value)
        expect(wordToBigInt(Uint8Array.of(9, ...a, 9).subarray(1, -1))).toBe(value)
      }),
    )
  })

  it('of a hash give a signed 64-bit key of the first eight bytes', () => {
    expect(txKeyOfHash(Buffer.from('ff'.repeat(8).padEnd(64, '0'), 'hex'))).toBe(-1n)
    expect(txKeyOfHash(Buffer.from(`0000000000000001${'ff'.repeat(24)}`, 'hex'))).toBe(1n)
  })
})
