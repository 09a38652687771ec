import { keccak_256 } from '@noble/hashes/sha3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak256 } from './keccak.js'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test('the hash of nothing', () => {
  expect(hex(keccak256(Buffer.alloc(0)))).toBe('c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
})

test('hashes as the audited library does, for any bytes', () => {
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
