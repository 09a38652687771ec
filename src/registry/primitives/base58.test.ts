import bs58 from 'bs58'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { base58Bytes, decodeBase58 } from './base58.js'

const bytes = fc
  .tuple(fc.nat({ max: 12 }), fc.uint8Array({ maxLength: 300 }))
  .map(([zeros, rest]) => Buffer.concat([Buffer.alloc(zeros), rest]))

it('decodes what bs58 encodes', () => {
  fc.assert(
    fc.property(bytes, (raw) => {
      const text = bs58.encode(raw)
      expect(base58Bytes(text)).toEqual(raw)
      expect(decodeBase58(text, raw.length)).toEqual(raw)
      expect(decodeBase58(text, raw.length + 1)).toBeNull()
    }),
  )
})

it('takes the texts that bs58 takes', () => {
  const character = fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...'123ABCabcz') }, fc.string({ maxLength: 2 }))
  fc.assert(
    fc.property(fc.array(character, { maxLength: 40 }), (characters) => {
      const text = characters.join('')
      const expected = bs58.decodeUnsafe(text)
      expect(base58Bytes(text)).toEqual(expected === undefined ? null : Buffer.from(expected))
    }),
  )
})

it('refuses what bs58 would take a wrong digit for', () => {
  for (const text of ['0', 'O', 'I', 'l', 'é', '\u{1F4A9}', '1 1', 'ı', ' 1'])
    expect(base58Bytes(text), text).toBeNull()
})
