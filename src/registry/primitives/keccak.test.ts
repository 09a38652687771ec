import { keccak_256 } from '@noble/hashes/sha3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak256 } from './keccak.js'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test('equals the audited library’s hash, for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (message) => {
      expect(hex(keccak256(message))).toBe(hex(keccak_256(message)))
    }),
    { numRuns: 2_000 },
  )
})

test('hashes do not share memory', () => {
  const first = keccak256(Buffer.of(1))
  const copy = Buffer.from(first)
  keccak256(Buffer.of(2))
  expect(first.equals(copy)).toBe(true)
})
