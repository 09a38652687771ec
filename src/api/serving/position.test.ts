import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openPosition, sealPosition } from './position.js'

const KEY = Buffer.alloc(32, 7)
const position = { generation: 3, seq: 2 ** 40 }

it('a position is read back under its key and on its network alone', () => {
  const token = sealPosition(KEY, 'testnet', position)
  expect(openPosition(KEY, 'testnet', token)).toEqual(position)
  expect(openPosition(KEY, 'mainnet', token)).toBeNull()
  expect(openPosition(Buffer.alloc(32, 8), 'testnet', token)).toBeNull()
  expect(token).not.toContain(String(position.seq))
  // who asks again and again learns nothing of when the journal grows
  expect(sealPosition(KEY, 'testnet', position)).not.toBe(token)
})

it('one that was altered, or is something else, is none', () => {
  const token = sealPosition(KEY, 'mainnet', position)
  fc.assert(
    fc.property(fc.nat(Buffer.from(token, 'base64url').length * 8 - 1), (bit) => {
      const bytes = Buffer.from(token, 'base64url')
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      expect(openPosition(KEY, 'mainnet', bytes.toString('base64url'))).toBeNull()
    }),
  )
  for (const other of [undefined, '', 'x', ['a'], token.repeat(2)])
    expect(openPosition(KEY, 'mainnet', other)).toBeNull()
})
