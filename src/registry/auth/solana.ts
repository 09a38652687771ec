import { createPublicKey, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { decodeBase58 } from '../primitives/base58.js'
import { fromHex } from '../primitives/bytes.js'
import { offchainEnvelopes } from './offchainMessage.js'

/** Signatures of Solana accounts over text messages: ed25519 over the message or its off-chain envelope. */

const SIGNATURE_BYTES = 64
const HEX = /^0x[0-9a-fA-F]{128}$/
// base64 of 64 bytes ends in padding, unknown to base58
const BASE64 = /^[A-Za-z0-9+/]{85}[AQgw]==$/

/** Decodes a signature of 64 bytes from `0x` hex, base64 or base58, distinguished by form; null for others. */
export function parseSolanaSignature(text: string): Buffer | null {
  if (HEX.test(text)) return fromHex(text)
  if (BASE64.test(text)) return Buffer.from(text, 'base64')
  return decodeBase58(text, SIGNATURE_BYTES)
}

/**
 * True if a key signed a message, bare or in an envelope. Strict (RFC 8032): small-order keys, for which anybody can
 * sign, and non-canonical encodings are refused.
 * @param signature 64 bytes
 * @param key 32 bytes
 */
export function isSignedBySolana(message: string, signature: Uint8Array, key: Uint8Array): boolean {
  const text = Buffer.from(message)
  const isSigned = quickCheck(signature, key)
  const signed = [text, ...offchainEnvelopes(text, key)].find(isSigned)
  return signed !== undefined && ed25519.verify(signature, signed, key, { zip215: false })
}

/** OpenSSL's check: ten times as fast, to reject wrong signatures cheaply, but lenient about keys. */
function quickCheck(signature: Uint8Array, key: Uint8Array): (message: Uint8Array) => boolean {
  const x = Buffer.from(key).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return (message) => verify(null, message, publicKey, signature)
}
