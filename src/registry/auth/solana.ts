import { decodeBase58 } from '../primitives/base58.js'
import { isSignedByEd25519 } from '../primitives/ed25519.js'
import { hexAndBase64Decodings, openSignatureEnvelope } from './envelope.js'
import { combineSignatureChecks, type WalletKind } from './kind.js'
import { offchainEnvelopes } from './offchainMessage.js'

/** Signatures of Solana accounts over text messages: ed25519 over the message or its off-chain envelope. */

const SIGNATURE_BYTES = 64

/** Possible signatures in a text, 64 bytes each. A text without padding may be valid base64 and base58 at once. */
export function parseSolanaSignature(text: string): Buffer[] {
  const { encoded } = openSignatureEnvelope(text)
  return [...hexAndBase64Decodings(encoded), decodeBase58(encoded, SIGNATURE_BYTES)].filter(
    (bytes) => bytes?.length === SIGNATURE_BYTES,
  ) as Buffer[]
}

/** Whether a key of 32 bytes signed a message, bare or in an envelope. @param signature 64 bytes */
export function isSignedBySolana(message: string, signature: Uint8Array, key: Uint8Array): boolean {
  const text = Buffer.from(message)
  return isSignedByEd25519([text, ...offchainEnvelopes(text, key)], signature, key)
}

export const solanaWalletKind: WalletKind = {
  account: 'Solana',
  proves: (type) => type === 'solana',
  coin: { type: 501n, stored: '^02', bytes: ({ bytes }) => bytes.subarray(1) },
  form: '64 bytes in hex, base58 or base64',
  read: (text) =>
    combineSignatureChecks(
      parseSolanaSignature(text).map(
        (signature) => (message, wallet) =>
          isSignedBySolana(message, signature, wallet.bytes.subarray(1)),
      ),
    ),
}
