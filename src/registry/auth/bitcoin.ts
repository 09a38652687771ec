import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { base58, bech32 } from '@scure/base'
import type { Wallet } from '../primitives/address.js'
import { toHex } from '../primitives/bytes.js'
import { decodeBech32 } from '../primitives/otherAddress.js'
import { hash160, sha256 } from '../primitives/sha256.js'
import { hexAndBase64Decodings, openSignatureEnvelope } from './envelope.js'
import {
  combineSignatureChecks,
  isSignedByEcdsa,
  type SignatureCheck,
  storedAddressPatternOfPrefixes,
  type WalletKind,
} from './kind.js'

/**
 * Signatures of Bitcoin wallets over text messages by a single key. BIP-322 (simple) is supported for SegWit, SegWit in
 * P2SH and the key path of Taproot. `signmessage` (BIP-137) is supported for P2PKH, SegWit and SegWit in P2SH.
 */

/**
 * Address types whose output script hashes a single ECDSA key. A P2SH address counts as one that nests a SegWit
 * address: its text does not show the script.
 */
type SingleKeyAddressType = 'bitcoin-p2pkh' | 'bitcoin-p2sh' | 'bitcoin-p2wpkh'

const concat = (...parts: (Uint8Array | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Uint8Array.from(part)))

/** Output script of a public key by the type of its address (BIP-16, BIP-141). */
const OUTPUT_SCRIPT_BY_TYPE: Record<SingleKeyAddressType, (key: Uint8Array) => Buffer> = {
  'bitcoin-p2pkh': (key) => concat([0x76, 0xa9, 20], hash160(key), [0x88, 0xac]),
  'bitcoin-p2sh': (key) =>
    concat([0xa9, 20], hash160(OUTPUT_SCRIPT_BY_TYPE['bitcoin-p2wpkh'](key)), [0x87]),
  'bitcoin-p2wpkh': (key) => concat([0, 20], hash160(key)),
}

function outputScriptOf({ type, text }: Wallet): Buffer {
  const segwit = decodeBech32(text)
  if (segwit) {
    const program = bech32.fromWords(segwit.words.slice(1))
    return concat([type === 'bitcoin-p2tr' ? 0x51 : 0, program.length], program)
  }
  const hash = base58.decode(text).subarray(1, 21)
  return type === 'bitcoin-p2sh'
    ? concat([0xa9, 20], hash, [0x87])
    : concat([0x76, 0xa9, 20], hash, [0x88, 0xac])
}

/** Fewer than 65,536 bytes, with their length before them (CompactSize). */
const withLength = (bytes: Uint8Array): Buffer =>
  concat(
    bytes.length < 0xfd ? [bytes.length] : [0xfd, bytes.length & 0xff, bytes.length >> 8],
    bytes,
  )

const sha256d = (bytes: Uint8Array): Buffer => sha256(sha256(bytes))
const taggedHash = (tag: string, ...parts: Uint8Array[]): Buffer =>
  sha256(sha256(Buffer.from(tag)), sha256(Buffer.from(tag)), ...parts)

/** Zero as a number of 4 and of 8 bytes: for versions, sequences, lock times and amounts. */
const ZERO4 = Buffer.alloc(4)
const ZERO8 = Buffer.alloc(8)
/** The only output of the transaction `to_sign` (BIP-322): no coins, to OP_RETURN. */
const TO_SIGN_OUTPUT = concat(ZERO8, [1, 0x6a])
const SIGHASH_ALL = 1
const SIGHASH_DEFAULT = 0

/**
 * Outpoint that the transaction `to_sign` of BIP-322 spends: the only output of the transaction `to_spend`. The input
 * of `to_spend` has the message's hash.
 * @param script output script of the address that signs
 * @returns transaction hash and output index, 36 bytes
 */
export function bip322OutpointOf(message: string, script: Uint8Array): Buffer {
  const hash = taggedHash('BIP0322-signed-message', Buffer.from(message))
  const input = concat(
    Buffer.alloc(32),
    [0xff, 0xff, 0xff, 0xff],
    withLength(concat([0, 32], hash)),
    ZERO4,
  )
  return concat(sha256d(concat(ZERO4, [1], input, [1], ZERO8, withLength(script), ZERO4)), ZERO4)
}

/** Hash that the key of a witness program of version 0 signs (BIP-143, SIGHASH_ALL). @param keyHash 20 bytes */
function segwitSigningHash(outpoint: Uint8Array, keyHash: Uint8Array): Buffer {
  const code = withLength(concat([0x76, 0xa9, 20], keyHash, [0x88, 0xac]))
  const before = concat(ZERO4, sha256d(outpoint), sha256d(ZERO4), outpoint, code, ZERO8, ZERO4)
  return sha256d(concat(before, sha256d(TO_SIGN_OUTPUT), ZERO4, [SIGHASH_ALL, 0, 0, 0]))
}

/** Hash that a Taproot output's key signs (BIP-341, key path without annex). */
function taprootSigningHash(outpoint: Uint8Array, script: Uint8Array, hashType: number): Buffer {
  const inputs = [sha256(outpoint), sha256(ZERO8), sha256(withLength(script)), sha256(ZERO4)]
  return taggedHash(
    'TapSighash',
    concat([0, hashType], ZERO4, ZERO4, ...inputs, sha256(TO_SIGN_OUTPUT), [0], ZERO4),
  )
}

/** Items of a serialized witness of one or two items, each shorter than 253 bytes; null for other bytes. */
function readWitness(bytes: Uint8Array): Uint8Array[] | null {
  const items: Uint8Array[] = []
  let at = 1
  while (at < bytes.length) {
    const end = at + 1 + bytes[at]!
    items.push(bytes.subarray(at + 1, end))
    at = end
  }
  const isWhole = at === bytes.length && bytes[0] === items.length
  return isWhole && (items.length === 1 || items.length === 2) ? items : null
}

/** Signature check of a Taproot signature: 64 bytes, or 65 that end with SIGHASH_ALL. Null for other bytes. */
function createTaprootCheck(signature: Uint8Array): SignatureCheck | null {
  const hashType = signature[64] ?? SIGHASH_DEFAULT
  if (
    signature.length !== (hashType === SIGHASH_DEFAULT ? 64 : 65) ||
    (hashType !== SIGHASH_ALL && hashType !== SIGHASH_DEFAULT)
  )
    return null
  return (message, wallet) => {
    if (wallet.type !== 'bitcoin-p2tr') return false
    const script = outputScriptOf(wallet)
    const hash = taprootSigningHash(bip322OutpointOf(message, script), script, hashType)
    return schnorr.verify(signature.subarray(0, 64), hash, script.subarray(2))
  }
}

/**
 * Signature check of a SegWit signature (strict DER, BIP-66; SIGHASH_ALL) by a compressed key. Null for other bytes.
 */
function createSegwitCheck(signature: Uint8Array, key: Uint8Array): SignatureCheck | null {
  const der = compactFromDer(signature.subarray(0, -1))
  if (!der || signature.at(-1) !== SIGHASH_ALL || key.length !== 33) return null
  return (message, wallet) => {
    const { type } = wallet
    if (type !== 'bitcoin-p2wpkh' && type !== 'bitcoin-p2sh') return false
    const script = OUTPUT_SCRIPT_BY_TYPE[type](key)
    if (!script.equals(outputScriptOf(wallet))) return false
    const hash = segwitSigningHash(bip322OutpointOf(message, script), hash160(key))
    return isSignedByEcdsa(secp256k1, [der, hash, key])
  }
}

/** Converts a signature in strict DER to its 64 bytes r ‖ s; null for other bytes. */
function compactFromDer(der: Uint8Array): Uint8Array | null {
  try {
    const signature = secp256k1.Signature.fromBytes(der, 'der')
    return Buffer.from(signature.toBytes('der')).equals(der) ? signature.toBytes('compact') : null
  } catch {
    return null
  }
}

/** Header bytes of `signmessage` are 27 to 42. The header of a compressed P2PKH key with recovery id 0 is 31. */
const FIRST_HEADER = 27
const HEADER_COUNT = 16
const COMPRESSED_HEADER = 31

/**
 * Signature check of a header byte and r ‖ s, from which the key is recovered. Null for other bytes. The header's lower
 * bits select the key. Its upper bits name an address type (BIP-137), but wallets disagree about them: Electrum and
 * Trezor use the bits of P2PKH for SegWit too. So the upper bits are ignored, and the address has to belong to the
 * recovered key.
 */
function createRecoveringCheck(signature: Uint8Array): SignatureCheck | null {
  const header = signature[0]! - FIRST_HEADER
  if (signature.length !== 65 || header < 0 || header >= HEADER_COUNT) return null
  return (message, wallet) => {
    if (!isSingleKeyWallet(wallet)) return false
    const hash = sha256d(
      concat(
        withLength(Buffer.from('Bitcoin Signed Message:\n')),
        withLength(Buffer.from(message)),
      ),
    )
    try {
      const parsed = secp256k1.Signature.fromBytes(signature.subarray(1), 'compact').addRecoveryBit(
        header & 3,
      )
      if (parsed.hasHighS()) return false
      const key = parsed.recoverPublicKey(hash)
      // tries both forms of the key for P2PKH; SegWit has compressed keys only (BIP-143)
      const forms = wallet.type === 'bitcoin-p2pkh' ? [true, false] : [true]
      const script = outputScriptOf(wallet)
      return forms.some((isCompressed) =>
        OUTPUT_SCRIPT_BY_TYPE[wallet.type](key.toBytes(isCompressed)).equals(script),
      )
    } catch {
      // r or s is out of range, or no point of the curve has r as its x coordinate
      return false
    }
  }
}

const isSingleKeyWallet = (wallet: Wallet): wallet is Wallet & { type: SingleKeyAddressType } =>
  wallet.type in OUTPUT_SCRIPT_BY_TYPE

/** Signature check of a SegWit or Taproot witness. Null where the bytes are no witness of a single key. */
function createWitnessCheck(bytes: Uint8Array): SignatureCheck | null {
  const [signature, key] = readWitness(bytes) ?? []
  if (!signature) return null
  return key ? createSegwitCheck(signature, key) : createTaprootCheck(signature)
}

/**
 * Prefix of a simple signature (BIP-322). The base64 of a single-key witness or of a header never starts with these
 * letters.
 */
const SIMPLE_PREFIX = 'smp'

export const bitcoinWalletKind: WalletKind = {
  account: 'Bitcoin',
  proves: (type) => type in OUTPUT_SCRIPT_BY_TYPE || type === 'bitcoin-p2tr',
  // SegWit addresses, and base58 addresses of 25 to 35 characters that begin with 1 or 3, or on testnets with m, n or 2
  stored: `${storedAddressPatternOfPrefixes('bc1', 'tb1')}|^03(31|33|6d|6e|32)(..){24,34}$`,
  coin: {
    type: 0n,
    stored: storedAddressPatternOfPrefixes('bc1', '1', '3'),
    bytes: outputScriptOf,
  },
  form: 'a witness (BIP-322 simple, with or without smp before it) or the 65 bytes of BIP-137',
  refused:
    'Full signatures (ful) and proofs of funds (pof) of BIP-322, and addresses of scripts or of several keys (multisig), are not verified here.',
  // sets the upper bits of a header, which checks ignore, to those of a compressed key
  canonical(given) {
    const [header, ...rest] = given
    const bits = createRecoveringCheck(given)
      ? COMPRESSED_HEADER + ((header! - FIRST_HEADER) & 3)
      : header!
    return toHex(Buffer.of(bits, ...rest))
  },
  read(text) {
    const { encoded } = openSignatureEnvelope(text)
    if (encoded.startsWith(SIMPLE_PREFIX))
      return combineSignatureChecks(
        hexAndBase64Decodings(encoded.slice(SIMPLE_PREFIX.length)).map(createWitnessCheck),
      )
    return combineSignatureChecks(
      hexAndBase64Decodings(encoded).flatMap((bytes) => [
        createWitnessCheck(bytes),
        createRecoveringCheck(bytes),
      ]),
    )
  },
}
