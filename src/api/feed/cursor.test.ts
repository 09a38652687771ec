import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NETWORKS } from '../../registry/primitives/network.js'
import { decryptPageToken, encryptPageToken, type PagePosition } from './cursor.js'

const key = randomBytes(32)
/** Bytes of the longest stored address: one for its type, and 90 characters of bech32 (BIP 173). */
const LONGEST_WALLET_BYTES = 91
const wholeNumber = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const pagePosition: fc.Arbitrary<PagePosition> = fc.record({
  network: fc.constantFrom(...NETWORKS),
  generation: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  order: fc.constantFrom('oldest' as const, 'newest' as const),
  first: wholeNumber,
  skip: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  floor: wholeNumber,
  from: fc.option(
    fc
      .uint8Array({ minLength: 21, maxLength: LONGEST_WALLET_BYTES, size: 'max' })
      .map((bytes) => Buffer.from(bytes)),
  ),
  sinceMs: fc.option(wholeNumber),
})

describe('page tokens', () => {
  it('decrypt to the encrypted position', () => {
    fc.assert(
      fc.property(pagePosition, (position) => {
        expect(decryptPageToken(key, encryptPageToken(key, position))).toEqual(position)
      }),
    )
  })

  it('cannot be decrypted with another key, or after a change of any character', () => {
    const letter = fc.constantFrom(
      ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/',
    )
    fc.assert(
      fc.property(pagePosition, fc.nat(), letter, (position, at, other) => {
        const token = encryptPageToken(key, position)
        expect(decryptPageToken(randomBytes(32), token)).toBeNull()
        const i = at % token.length
        fc.pre(token[i] !== other)
        expect(decryptPageToken(key, token.slice(0, i) + other + token.slice(i + 1))).toBeNull()
        for (const odd of [`${token}=`, `${token}A`, token.slice(0, -1), token.slice(1)])
          expect(decryptPageToken(key, odd)).toBeNull()
      }),
    )
  })

  it('are distinguished from any other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(decryptPageToken(key, text)).toBeNull()
      }),
    )
  })

  it.each([
    ['no character', ''],
    ['one', 'A'],
    ['a million', 'A'.repeat(1_000_000)],
  ])('are distinguished from a text of %s', (_, text) => {
    expect(decryptPageToken(key, text)).toBeNull()
  })
})
