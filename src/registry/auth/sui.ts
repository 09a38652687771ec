import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { fromHex, toHex } from '../primitives/bytes.js'
import { isSignedByEd25519 } from '../primitives/ed25519.js'
import { sha256 } from '../primitives/sha256.js'
import { hexAndBase64Decodings, openSignatureEnvelope } from './envelope.js'
import {
  combineSignatureChecks,
  isSignedByEcdsa,
  type SignatureCheck,
  storedAddressPatternOfPrefixes,
  type WalletKind,
} from './kind.js'

/**
 * Signatures of Sui accounts over personal messages by one key: flag ‖ signature ‖ key. Multisig, zkLogin and
 * passkeys are refused. A Sui address has the same form as an Aptos address, and lists show it with the type `aptos`.
 */

/** ECDSA curve by the flag byte of a signature (0 to 2); null for Ed25519. */
const CURVE_BY_FLAG = [null, secp256k1, p256]

const blake2b256 = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 32 })

/** Length as BCS encodes it (ULEB128). */
const uleb128 = (length: number): number[] =>
  length < 0x80 ? [length] : [(length & 0x7f) | 0x80, ...uleb128(length >> 7)]

/** Hash that is signed: of the intent (personal message: scope 3, version 0, application 0) and the message in BCS. */
function personalMessageHash(message: string): Uint8Array {
  const bytes = Buffer.from(message)
  return blake2b256(Buffer.concat([Buffer.of(3, 0, 0, ...uleb128(bytes.length)), bytes]))
}

export const suiWalletKind: WalletKind = {
  account: 'Sui',
  proves: (type) => type === 'aptos',
  coin: {
    type: 784n,
    stored: storedAddressPatternOfPrefixes('0x'),
    bytes: ({ text }) => fromHex(text),
  },
  form: 'a flag (0 to 2), 64 bytes and a key',
  refused:
    'Signatures of several keys (multisig), of zkLogin and of passkeys are not verified here.',
  read: (text) =>
    combineSignatureChecks(
      hexAndBase64Decodings(openSignatureEnvelope(text).encoded).map(createCheck),
    ),
}

/** Signature check of the bytes flag ‖ signature ‖ public key. Null for other bytes. */
function createCheck(bytes: Buffer): SignatureCheck | null {
  const curve = CURVE_BY_FLAG[bytes[0]!]
  if (curve === undefined || bytes.length !== (curve ? 98 : 97)) return null
  const signature = bytes.subarray(1, 65)
  const key = bytes.subarray(65)
  return (message, wallet) => {
    const address = blake2b256(Buffer.concat([bytes.subarray(0, 1), key]))
    if (toHex(address) !== wallet.text) return false
    const hash = personalMessageHash(message)
    return curve
      ? isSignedByEcdsa(curve, [signature, sha256(hash), key])
      : isSignedByEd25519([hash], signature, key)
  }
}
