import { decodeBase58 } from '../primitives/base58.js'
import { fromHex } from '../primitives/bytes.js'
import { isSignedByEd25519 } from '../primitives/ed25519.js'
import type { WalletKind } from './kind.js'
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

/** Tells whether a key of 32 bytes signed a message, bare or in an envelope. @param signature 64 bytes */
export function isSignedBySolana(message: string, signature: Uint8Array, key: Uint8Array): boolean {
  const text = Buffer.from(message)
  return isSignedByEd25519([text, ...offchainEnvelopes(text, key)], signature, key)
}

export const solana: WalletKind = {
  account: 'Solana',
  proves: (type) => type === 'solana',
  coin: { type: 501n, stored: '^02', bytes: ({ bytes }) => bytes.subarray(1) },
  form: '64 bytes in 0x hex, base58 or base64',
  read(text) {
    const signature = parseSolanaSignature(text)
    return (
      signature &&
      ((message, wallet) => isSignedBySolana(message, signature, wallet.bytes.subarray(1)))
    )
  },
}
