import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTxId } from './status.js'

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

  it('knows what is neither', () => {
    const hex = 'ab'.repeat(32)
    const odd = [
      '',
      '0x',
      hex,
      `0X${hex}`,
      `0x${hex}a`,
      `0x${hex.slice(1)}`,
      ` 0x${hex}`,
      `0x${hex}\n`,
      '1'.repeat(63),
    ]
    for (const text of [...odd, 'z'.repeat(88), '5'.repeat(89), bs58.encode(Buffer.alloc(63, 9))])
      expect(parseTxId(text)).toBeNull()
  })
})
