import bs58 from 'bs58'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeBase58 } from './base58.js'

it('decodes what bs58 encodes, of the length that is asked for', () => {
  fc.assert(
    fc.property(fc.nat({ max: 12 }), fc.uint8Array({ maxLength: 300 }), (zeros, rest) => {
      const raw = Buffer.concat([Buffer.alloc(zeros), rest])
      const text = bs58.encode(raw)
      expect(decodeBase58(text, raw.length)).toEqual(raw)
      expect(decodeBase58(text, raw.length + 1)).toBeNull()
    }),
  )
})

it('refuses other characters', () => {
  for (const odd of ['0', 'O', 'I', 'l', 'é', '\u{1F4A9}', ' ', 'ı'])
    for (const text of [odd, `1${odd}`, `${odd}1`])
      for (const bytes of [1, 2]) expect(decodeBase58(text, bytes), text).toBeNull()
})
