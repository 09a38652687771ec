import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTxId } from './txId.js'

describe('parseTxId', () => {
  it('reads hashes and signatures by their form', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
    fc.assert(
      fc.property(bytes(32), bytes(64), (hash, signature) => {
        const hex = Buffer.from(hash).toString('hex')
        expect(parseTxId(`0x${hex.toUpperCase()}`)).toEqual(Buffer.from(hash))
        expect(parseTxId(bs58.encode(signature))).toEqual(Buffer.from(signature))
      }),
    )
  })

  const hex = 'ab'.repeat(32)

  it.each([
    ['no character', ''],
    ['no digit', '0x'],
    ['a hash without 0x', hex],
    ['a hash with 0X', `0X${hex}`],
    ['a digit too many', `0x${hex}a`],
    ['a digit too few', `0x${hex.slice(1)}`],
    ['a space before', ` 0x${hex}`],
    ['a line feed behind', `0x${hex}\n`],
    ['63 zero bytes', '1'.repeat(63)],
    ['88 characters of more than 64 bytes', 'z'.repeat(88)],
    ['89 characters', '5'.repeat(89)],
    ['63 bytes', bs58.encode(Buffer.alloc(63, 9))],
  ])('refuses other texts: %s', (_, text) => {
    expect(parseTxId(text)).toBeNull()
  })
})
