import { createPrivateKey, createPublicKey } from 'node:crypto'

/** Bytes before the seed in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Public key of an Ed25519 seed, 32 bytes each (RFC 8032). By OpenSSL: a start would wait a quarter of a second for the
 * tables that code in JavaScript makes before its first one.
 */
export function ed25519PublicKey(seed: Uint8Array): Buffer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x!, 'base64url')
}
