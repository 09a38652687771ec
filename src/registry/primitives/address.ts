import bs58 from 'bs58'
import { getAddress } from 'viem'
import type { AddressType } from '../families.js'
import { decodeBase58 } from './base58.js'
import { fromHex, toHex } from './bytes.js'
import { keccak256 } from './keccak.js'
import { isBech32, type OtherType, parseOther } from './otherAddress.js'

/** Form of a type of addresses that pay. */
interface AddressForm {
  /** Type byte of a stored address, before the raw address. Never renumber. */
  code: number
  /** Length of a raw address. In a word of 32 bytes zeros stand before a shorter one. */
  bytes: number
  /** Raw address and answer form of a text; null for a text of another form. */
  read(text: string): { raw: Buffer; text: string } | 'bad_checksum' | null
  /** The answer form of a raw address. */
  text(raw: Buffer): string
}

const HEX = /^0x[0-9a-fA-F]{40}$/

/** By type, the longer addresses last. */
const FORMS: Readonly<Record<AddressType, AddressForm>> = {
  evm: {
    code: 1,
    bytes: 20,
    read(text) {
      if (!HEX.test(text)) return null
      const digits = text.slice(2)
      const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
      const lower = `0x${digits.toLowerCase()}` as const
      // EIP-55
      return mixed && getAddress(lower).slice(2) !== digits
        ? 'bad_checksum'
        : { raw: fromHex(lower), text: lower }
    },
    text: toHex,
  },
  solana: {
    code: 2,
    bytes: 32,
    read(text) {
      // a bech32 text's checksum is proof, which base58 of 32 bytes has none of
      const raw = isBech32(text) ? null : decodeBase58(text, 32)
      return raw && { raw, text }
    },
    text: (raw) => bs58.encode(raw),
  },
}
const BY_LENGTH = Object.entries(FORMS) as [AddressType, AddressForm][]

/** Type byte of other chains' addresses, before their canonical text. */
const OTHER_CODE = 3

export interface Address {
  type: AddressType
  /** The answer form: hex in lower case, or base58. */
  text: string
  /** Type byte and raw address: the form of the database and the journal. */
  bytes: Buffer
}

/** Wallet that may be listed, of any chain with recognizable addresses. */
export interface Wallet extends Omit<Address, 'type'> {
  type: AddressType | OtherType
}

/** Stored form of a raw address. */
export function storedAddress(type: AddressType, raw: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(raw.length + 1)
  bytes[0] = FORMS[type].code
  bytes.set(raw, 1)
  return bytes
}

export type AddressProblem = 'unsupported_address' | 'bad_checksum'

/**
 * Parses an address by its form. Mixed-case hex needs a valid checksum.
 * @returns the address, or the problem
 */
export function parseAddress(input: string): Address | AddressProblem {
  for (const [type, form] of BY_LENGTH) {
    const read = form.read(input)
    if (read === 'bad_checksum') return read
    if (read) return { type, text: read.text, bytes: storedAddress(type, read.raw) }
  }
  return 'unsupported_address'
}

/** Parses an address of any chain that may be listed. @returns the wallet, or the problem */
export function parseWallet(input: string): Wallet | AddressProblem {
  const address = parseAddress(input)
  if (address !== 'unsupported_address') return address
  const other = parseOther(input)
  return other ? { ...other, bytes: otherBytes(other.text) } : address
}

const otherBytes = (text: string): Buffer =>
  Buffer.concat([Buffer.of(OTHER_CODE), Buffer.from(text)])

/** Parses an address for look-ups, where an invalid one is unknown. */
export function lookupAddress(input: string): Wallet | null {
  const wallet = parseWallet(input)
  return typeof wallet === 'string' ? null : wallet
}

/** Decodes a stored wallet. @throws RangeError for invalid bytes */
export function decodeWallet(bytes: Uint8Array): Wallet {
  if (bytes[0] !== OTHER_CODE) return decodeAddress(bytes)
  const raw = Buffer.from(bytes)
  const text = raw.toString('latin1', 1)
  const other = parseOther(text)
  if (other?.text !== text) throw new RangeError(`${toHex(raw)} is not a stored address`)
  return { ...other, bytes: raw }
}

/** Decodes the stored address of a wallet that pays. @throws RangeError for other bytes */
export function decodeAddress(bytes: Uint8Array): Address {
  const raw = Buffer.from(bytes)
  for (const [type, { code, bytes: length, text }] of BY_LENGTH)
    if (raw[0] === code && raw.length === length + 1)
      return { type, text: text(raw.subarray(1)), bytes: raw }
  throw new RangeError(`${toHex(raw)} is not a stored address`)
}

/**
 * Address in the `from` word of a bid: the shortest that has zeros before it.
 * @returns the stored form without text, since this runs once per log
 */
export function addressOfWord(word: Buffer): Buffer {
  const zeros = word.findIndex((byte) => byte !== 0)
  const [type, { bytes }] = BY_LENGTH.find(
    ([, form]) => zeros < 0 || zeros >= word.length - form.bytes,
  )!
  return storedAddress(type, word.subarray(word.length - bytes))
}

/** EVM zero address, stored: as which private actors are shown. */
export const NOBODY = addressOfWord(Buffer.alloc(32))

/** Word of a stored address: 20 bytes left-padded, 32 bytes as they are, others the Keccak of the stored form. */
export function addressToWord(bytes: Uint8Array): Buffer {
  if (bytes[0] === OTHER_CODE) return keccak256(bytes)
  const word = Buffer.alloc(32)
  word.set(bytes.subarray(1), 33 - bytes.length)
  return word
}
