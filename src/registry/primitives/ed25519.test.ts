import { ed25519 } from '@noble/curves/ed25519'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ed25519PublicKey } from './ed25519.js'

// RFC 8032, section 7.1, test 1
it('the public key of a seed equals RFC 8032’s', () => {
  const seed = Buffer.from(
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'hex',
  )
  expect(ed25519PublicKey(seed).toString('hex')).toBe(
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  )
})

it('the public key equals that of the library which checks signatures', () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(fc.property(bytes, (seed) => ed25519PublicKey(seed).equals(ed25519.getPublicKey(seed))))
})
