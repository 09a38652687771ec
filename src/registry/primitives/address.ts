import bs58 from 'bs58'
import { getAddress } from 'viem'
import type { AddressType } from '../families.js'
import { decodeBase58 } from './base58.js'
import { fromHex, toHex } from './bytes.js'
import { keccak256 } from './keccak.js'
import { isBech32, type OtherType, parseOther } from './otherAddress.js'

/** Type bytes of stored addresses (never renumber), which stand before the raw address (EVM: 20 bytes, Solana: 32). */
export const ADDRESS_TYPE_CODE: Readonly<Record<AddressType, number>> = { evm: 1, solana: 2 }
/** Type byte of other chains' addresses, before their canonical text. */
const OTHER_CODE = 3

export interface Address {
  type: AddressType
  /** The answer form: EVM in lower case, Solana in base58. */
  text: string
  /** Type byte and raw address: the form of the database and the journal. */
  bytes: Buffer
}

const EVM = /^0x[0-9a-fA-F]{40}$/
/** Wallet that may be listed, of any chain with recognizable addresses. */
export interface Wallet extends Omit<Address, 'type'> {
  type: AddressType | OtherType
}

function stored(type: AddressType, raw: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(raw.length + 1)
  bytes[0] = ADDRESS_TYPE_CODE[type]
  bytes.set(raw, 1)
  return bytes
}

export type AddressProblem = 'unsupported_address' | 'bad_checksum'

/**
 * Parses an address by its form. Mixed-case EVM addresses need a valid checksum (EIP-55).
 * @returns the address, or the problem
 */
export function parseAddress(input: string): Address | AddressProblem {
  if (EVM.test(input)) {
    const digits = input.slice(2)
    const lower = `0x${digits.toLowerCase()}` as const
    const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
    if (mixed && getAddress(lower).slice(2) !== digits) return 'bad_checksum'
    return { type: 'evm', text: lower, bytes: stored('evm', fromHex(lower)) }
  }
  // a checksum is proof, which base58 of 32 bytes has none of
  const key = isBech32(input) ? null : decodeBase58(input, 32)
  return key ? { type: 'solana', text: input, bytes: stored('solana', key) } : 'unsupported_address'
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
  if (raw[0] === ADDRESS_TYPE_CODE.evm && raw.length === 21)
    return { type: 'evm', text: toHex(raw.subarray(1)), bytes: raw }
  if (raw[0] === ADDRESS_TYPE_CODE.solana && raw.length === 33) {
    return { type: 'solana', text: bs58.encode(raw.subarray(1)), bytes: raw }
  }
  throw new RangeError(`${toHex(raw)} is not a stored address`)
}

/**
 * Address in the `from` word of a bid: EVM when the first 12 bytes are zero, else a Solana key.
 * @returns the stored form without text, since this runs once per log
 */
export function addressOfWord(word: Buffer): Buffer {
  for (let i = 0; i < 12; i++) if (word[i] !== 0) return stored('solana', word)
  return stored('evm', word.subarray(12))
}

/** EVM zero address, stored: as which private actors are shown. */
export const NOBODY = addressOfWord(Buffer.alloc(32))

/** Word of a stored address: EVM left-padded, Solana raw, others the Keccak of the stored form. */
export function addressToWord(bytes: Uint8Array): Buffer {
  if (bytes[0] === OTHER_CODE) return keccak256(bytes)
  const word = Buffer.alloc(32)
  word.set(bytes.subarray(1), 33 - bytes.length)
  return word
}
