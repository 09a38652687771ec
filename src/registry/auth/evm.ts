import { secp256k1 } from '@noble/curves/secp256k1.js'
import { decodeAbiParameters, getAddress, type Hex } from 'viem'
import { toHex } from '../primitives/bytes.js'
import { keccak256 } from '../primitives/keccak.js'
import { decodeHex, hexAndBase64Decodings, openSignatureEnvelope } from './envelope.js'
import type { WalletKind } from './kind.js'

/** Signatures of EVM accounts over text messages (EIP-191, version 0x45: personal_sign), checked offline. */

const SIGNATURE_BYTES = 65
const COMPACT_SIGNATURE_BYTES = 64
const HIGH_BIT = 0x80

/** The hash that personal_sign signs. @returns 32 bytes */
export function personalSignHash(message: string): Buffer {
  const bytes = Buffer.from(message)
  return keccak256(
    Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]),
  )
}

/**
 * Converts a signature to the 65 bytes r ‖ s ‖ v. A compact signature (EIP-2098: the parity is the first bit of s) is
 * expanded. Null for another length.
 */
export function parseEvmSignature(given: Uint8Array): Buffer | null {
  if (given.length === SIGNATURE_BYTES) return Buffer.from(given)
  if (given.length !== COMPACT_SIGNATURE_BYTES) return null
  const bytes = Buffer.from([...given, given[32]! >> 7])
  bytes[32]! &= ~HIGH_BIT
  return bytes
}

/** Recovery parity by the last byte `v` of a signature: wallets use 27 and 28, or the parity itself. */
const RECOVERY_BIT_BY_V: Readonly<Record<number, number>> = { 0: 0, 1: 1, 27: 0, 28: 1 }

/**
 * Account that signed a message. An s in the upper half of the order is refused (EIP-2), because anybody can derive
 * it from the signature with the lower s.
 * @param signature 65 bytes
 * @returns address in lower case hex, null where no account signed
 */
export function recoverSigner(message: string, signature: Uint8Array): string | null {
  const bit = RECOVERY_BIT_BY_V[signature[64]!]
  if (bit === undefined) return null
  try {
    const parsed = secp256k1.Signature.fromCompact(signature.subarray(0, 64)).addRecoveryBit(bit)
    if (parsed.hasHighS()) return null
    const key = parsed.recoverPublicKey(personalSignHash(message)).toBytes(false)
    return toHex(keccak256(key.subarray(1)).subarray(12))
  } catch {
    // r or s is out of range, or no point of the curve has r as its x coordinate
    return null
  }
}

/** Maximum length of a smart wallet's signature: many times what known wallets need. */
const MAX_CONTRACT_SIGNATURE_BYTES = 8_192

/** Suffix, in hex, of a signature of a wallet that may not be deployed yet (ERC-6492). */
const WRAPPED_SUFFIX = '6492'.repeat(16)
/** ABI types of the values before the suffix: factory, its call, inner signature. */
const WRAPPED_PARAMETERS = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const

/** Signature of a smart wallet (ERC-1271). Only the wallet's chain can check the signature. */
export interface ContractSignature {
  signature: Hex
  /** ERC-6492: the factory, in lower case, and the call that deploys the wallet. Null for a plain signature. */
  deployment: { factory: Hex; data: Hex } | null
}

/**
 * Hex of a smart wallet's signature, with its ERC-6492 wrapper if it has one. `0x` is a signature too: a multisig may
 * have approved the hash on its chain.
 * @returns null for any other text, and for more than `MAX_CONTRACT_SIGNATURE_BYTES`
 */
export function contractSignatureHex(text: string): Hex | null {
  const { encoded } = openSignatureEnvelope(text)
  const bytes = encoded.toLowerCase() === '0x' ? Buffer.of() : decodeHex(encoded)
  return bytes && bytes.length <= MAX_CONTRACT_SIGNATURE_BYTES ? toHex(bytes) : null
}

/** Reads a smart wallet's signature. @returns null for any other text, and for a malformed ERC-6492 signature */
export function parseContractSignature(text: string): ContractSignature | null {
  const signature = contractSignatureHex(text)
  if (signature === null) return null
  if (!signature.endsWith(WRAPPED_SUFFIX)) return { signature, deployment: null }
  try {
    const wrapped = signature.slice(0, -WRAPPED_SUFFIX.length) as Hex
    const [factory, data, innerSignature] = decodeAbiParameters(WRAPPED_PARAMETERS, wrapped)
    return {
      signature: innerSignature,
      deployment: { factory: factory.toLowerCase() as Hex, data },
    }
  } catch {
    return null
  }
}

export const evmWalletKind: WalletKind = {
  account: 'Ethereum',
  // EIP-4361 asks for the checksummed form
  shown: (text) => getAddress(text),
  hasChainId: true,
  proves: (type) => type === 'evm',
  // Look-ups of EVM coin types (ENSIP-11) get the record of coin type 60. `stored` matches the hex of stored EVM
  // addresses.
  coin: { type: 60n, stored: '^01', bytes: ({ bytes }) => bytes.subarray(1) },
  form: `the 65 bytes of personal_sign, or 1 to ${MAX_CONTRACT_SIGNATURE_BYTES} of a contract in hex`,
  // r ‖ s ‖ v with v 27 or 28
  canonical(given) {
    const bytes = parseEvmSignature(given)
    const bit = bytes && RECOVERY_BIT_BY_V[bytes[64]!]
    return bytes && bit !== undefined ? toHex(Buffer.of(...bytes.subarray(0, 64), 27 + bit!)) : null
  },
  read(text) {
    const signatures = hexAndBase64Decodings(openSignatureEnvelope(text).encoded)
      .map(parseEvmSignature)
      .filter((bytes) => bytes !== null)
    if (signatures.length === 0 && !parseContractSignature(text)) return null
    return (message, wallet) =>
      signatures.some((bytes) => recoverSigner(message, bytes) === wallet.text)
  },
}
