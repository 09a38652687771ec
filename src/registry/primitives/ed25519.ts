import { createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'

/** Bytes before the seed in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Public key of an Ed25519 seed, 32 bytes each (RFC 8032). OpenSSL computes it, because a JavaScript library would
 * delay the start by a quarter of a second to compute its tables.
 */
export const ed25519PublicKey = (seed: Uint8Array): Buffer =>
  Buffer.from(createPublicKey(ed25519PrivateKey(seed)).export({ format: 'jwk' }).x!, 'base64url')

/** Private key of an Ed25519 seed, 32 bytes, for `sign` of node:crypto. */
export const ed25519PrivateKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })

/**
 * Whether a key signed one of several messages. The check is strict (RFC 8032): small-order keys, for which anybody can
 * sign, and non-canonical encodings are refused. OpenSSL accepts both, but checks first, because it is ten times as
 * fast at rejecting wrong signatures.
 * @param signature 64 bytes
 * @param key 32 bytes
 */
export function isSignedByEd25519(
  messages: readonly Uint8Array[],
  signature: Uint8Array,
  key: Uint8Array,
): boolean {
  const x = Buffer.from(key).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signed = messages.find((message) => verify(null, message, publicKey, signature))
  return signed !== undefined && ed25519.verify(signature, signed, key, { zip215: false })
}
