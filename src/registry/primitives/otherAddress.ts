import { base58, base58xrp, bech32, bech32m } from '@scure/base'
import { sha256 } from './sha256.js'

/**
 * Types of addresses of chains other than EVM and Solana, recognized by form and checksum, named as in the client
 * `@clustersxyz/sdk`.
 */
export const OTHER_CHAIN_ADDRESS_TYPES = [
  ...['bitcoin-p2pkh', 'bitcoin-p2sh', 'bitcoin-p2wpkh', 'bitcoin-p2wsh', 'bitcoin-p2tr'],
  ...['litecoin-p2pkh', 'litecoin-p2sh', 'litecoin-p2wpkh', 'litecoin-p2wsh'],
  ...['dogecoin', 'tron', 'ripple-classic', 'aptos', 'cosmos'],
] as const
export type OtherChainAddressType = (typeof OTHER_CHAIN_ADDRESS_TYPES)[number] | `cosmos-${string}`

export interface OtherChainAddress {
  type: OtherChainAddressType
  /** Canonical form. */
  text: string
}

/** Parses an address of a chain other than EVM and Solana, null for other text. */
export const parseOtherChainAddress = (input: string): OtherChainAddress | null =>
  readAptos(input) ?? readBech32(input) ?? readBase58(input)

/** Reads an Aptos address: all 32 bytes in hex. Sui addresses have the same form, and are read as Aptos. */
const readAptos = (input: string): OtherChainAddress | null =>
  /^0x[0-9a-fA-F]{64}$/.test(input) ? { type: 'aptos', text: input.toLowerCase() } : null

/** BIP 173 allows upper or lower case, not both, and at most 90 characters. */
const BECH32_PATTERN =
  /^(?:[a-z]{2,20}1[02-9ac-hj-np-z]{11,70}|[A-Z]{2,20}1[02-9AC-HJ-NP-Z]{11,70})$/
const BECH32_MAX_CHARS = 90

interface DecodedBech32 {
  coder: typeof bech32 | typeof bech32m
  prefix: string
  words: number[]
}

/** Prefix and words of a bech32 or bech32m text; null for a text without a valid checksum. */
export function decodeBech32(input: string): DecodedBech32 | null {
  if (input.length > BECH32_MAX_CHARS || !BECH32_PATTERN.test(input)) return null
  for (const coder of [bech32, bech32m]) {
    const decoded = coder.decodeUnsafe(input)
    if (decoded) return { coder, prefix: decoded.prefix.toLowerCase(), words: decoded.words }
  }
  return null
}

function readBech32(input: string): OtherChainAddress | null {
  const decoded = decodeBech32(input)
  const type = decoded && (segwitType(decoded) ?? cosmosType(decoded))
  return type && { type, text: input.toLowerCase() }
}

const byteLengthOfWords = (words: number[]): number | null =>
  bech32.fromWordsUnsafe(words)?.length ?? null

/** Chains by the prefix of their SegWit addresses. A Map, so that no prefix finds a property of Object.prototype. */
const SEGWIT_CHAIN_BY_PREFIX: ReadonlyMap<string, 'bitcoin' | 'litecoin'> = new Map([
  ['bc', 'bitcoin'],
  ['tb', 'bitcoin'],
  ['ltc', 'litecoin'],
  ['tltc', 'litecoin'],
])

/**
 * Type of a SegWit address; null for other text. Known are witness programs (BIP 141) of version 0 in bech32 (BIP 173),
 * and Bitcoin's version 1 in bech32m (BIP 350, BIP 341).
 */
function segwitType({ coder, prefix, words }: DecodedBech32): OtherChainAddressType | null {
  const chain = SEGWIT_CHAIN_BY_PREFIX.get(prefix)
  if (!chain) return null
  const length = byteLengthOfWords(words.slice(1))
  if (coder === bech32 && words[0] === 0) {
    if (length === 20) return `${chain}-p2wpkh`
    if (length === 32) return `${chain}-p2wsh`
  }
  const isTaproot = coder === bech32m && words[0] === 1 && length === 32
  return isTaproot && chain === 'bitcoin' ? 'bitcoin-p2tr' : null
}

/**
 * Prefixes of bech32 texts that are not Cosmos accounts, though they may have 20 or 32 bytes: other chains, and keys.
 */
const OTHER_BECH32_PREFIXES = new Set([
  ...SEGWIT_CHAIN_BY_PREFIX.keys(),
  'bcrt',
  'nsec',
  'npub',
  'note',
  'age',
  'addr',
  'stake',
  'erd',
  'one',
])

/**
 * Address type of a Cosmos account (bech32 of 20 or 32 bytes, ADR 028): `cosmos-<prefix>`, or `cosmos` for the prefix
 * `cosmos`. Null for other text.
 */
function cosmosType({ coder, prefix, words }: DecodedBech32): OtherChainAddressType | null {
  const length = byteLengthOfWords(words)
  if (coder !== bech32 || OTHER_BECH32_PREFIXES.has(prefix) || (length !== 20 && length !== 32))
    return null
  return prefix === 'cosmos' ? 'cosmos' : `cosmos-${prefix}`
}

/**
 * Address types by the version byte before a 20-byte hash. A shared version (0x05 of old Litecoin scripts) counts as
 * Bitcoin's.
 */
const TYPE_BY_VERSION: Readonly<Record<number, OtherChainAddressType>> = {
  0: 'bitcoin-p2pkh',
  5: 'bitcoin-p2sh',
  111: 'bitcoin-p2pkh',
  196: 'bitcoin-p2sh',
  48: 'litecoin-p2pkh',
  50: 'litecoin-p2sh',
  30: 'dogecoin',
  22: 'dogecoin',
  65: 'tron',
}

// Base58Check of 25 bytes. The length is checked first, because decoding is quadratic.
const BASE58CHECK_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{25,35}$/
const BASE58CHECK_BYTES = 25

/** Parses an address in base58. XRPL has its own base58 alphabet. */
function readBase58(input: string): OtherChainAddress | null {
  if (!BASE58CHECK_PATTERN.test(input)) return null
  const type = TYPE_BY_VERSION[versionByteOf(base58.decode(input)) ?? -1]
  if (type) return { type, text: input }
  return versionByteOf(base58xrp.decode(input)) === 0
    ? { type: 'ripple-classic', text: input }
    : null
}

/** Version byte of the decoded bytes of a Base58Check text; null for a wrong length or checksum. */
function versionByteOf(bytes: Uint8Array): number | null {
  if (bytes.length !== BASE58CHECK_BYTES) return null
  const sum = sha256(sha256(bytes.subarray(0, -4)))
  return sum.subarray(0, 4).equals(bytes.subarray(-4)) ? bytes[0]! : null
}
