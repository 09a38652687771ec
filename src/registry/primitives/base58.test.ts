import bs58 from 'bs58'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeBase58 } from './base58.js'

it('decodes the encoding of bs58, if it has the requested length', () => {
  fc.assert(
    fc.property(fc.nat({ max: 12 }), fc.uint8Array({ maxLength: 300 }), (zeros, rest) => {
      const raw = Buffer.concat([Buffer.alloc(zeros), rest])
      const text = bs58.encode(raw)
      expect(decodeBase58(text, raw.length)).toEqual(raw)
      expect(decodeBase58(text, raw.length + 1)).toBeNull()
    }),
  )
})
