import { createPublicKey, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { decodeBase58 } from '../primitives/base58.js'
import { fromHex } from '../primitives/bytes.js'
import { offchainEnvelopes } from './offchainMessage.js'

/**
 * Signatures of Solana accounts over text messages: ed25519 over the message itself or over an off-chain message
 * envelope.
 */

const SIGNATURE_BYTES = 64
const HEX = /^0x[0-9a-fA-F]{128}$/
// 64 bytes in base64 end in two signs of padding, which base58 doesn't have
const BASE64 = /^[A-Za-z0-9+/]{85}[AQgw]==$/

/**
 * The 64 bytes of a signature in `0x` hex, base64 or base58, told apart by their exact form; null for any other form.
 */
export function parseSolanaSignature(text: string): Buffer | null {
  if (HEX.test(text)) return fromHex(text)
  if (BASE64.test(text)) return Buffer.from(text, 'base64')
  return decodeBase58(text, SIGNATURE_BYTES)
}

/**
 * Whether a key signed a message, as it is or in an envelope. Strict (RFC 8032): keys of small order, for which anybody
 * can make signatures, and encodings that are not canonical are refused.
 * @param signature 64 bytes
 * @param key 32 bytes
 */
export function isSignedBySolana(message: string, signature: Uint8Array, key: Uint8Array): boolean {
  const text = Buffer.from(message)
  const isSigned = quickCheck(signature, key)
  const signed = [text, ...offchainEnvelopes(text, key)].find(isSigned)
  return signed !== undefined && ed25519.verify(signature, signed, key, { zip215: false })
}

/**
 * OpenSSL's check: ten times as quick, so that a wrong signature over any form costs little, but lenient about keys.
 */
function quickCheck(signature: Uint8Array, key: Uint8Array): (message: Uint8Array) => boolean {
  const x = Buffer.from(key).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return (message) => verify(null, message, publicKey, signature)
}
