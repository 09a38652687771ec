import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha256 } from './sha256.js'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

it.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1_000, 70_000])(
  'equals the SHA-256 of OpenSSL for %i bytes',
  (length) => {
    const bytes = Buffer.alloc(length, 'clusterd')
    expect(hex(sha256(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'))
  },
)

it('equals the SHA-256 of OpenSSL for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(hex(sha256(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'))
    }),
  )
})
