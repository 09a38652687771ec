import type { PayerAddressType } from '../families.js'
import type { AddressAndTxIdForms } from '../forms/form.js'
import { ADDRESS_AND_TX_ID_FORMS } from '../forms/index.js'
import { toHex } from './bytes.js'
import { keccak256 } from './keccak.js'
import { type OtherChainAddressType, parseOtherChainAddress } from './otherAddress.js'

const FORMS_BY_LENGTH = Object.entries(ADDRESS_AND_TX_ID_FORMS) as [
  PayerAddressType,
  AddressAndTxIdForms,
][]

/** Type byte before the canonical text in a stored address of a chain that is neither EVM nor Solana. */
const OTHER_CHAIN_CODE = 3

/** Address of a type that can pay. */
export interface Address {
  type: PayerAddressType
  /** Canonical text, as responses show it. */
  text: string
  /**
   * Stored form, in database and journal: a type byte, then the raw address. For a chain that is neither EVM nor
   * Solana, the canonical text follows the type byte.
   */
  bytes: Buffer
}

/** Wallet of any chain whose addresses can be recognized. A cluster may list it. */
export interface Wallet extends Omit<Address, 'type'> {
  type: PayerAddressType | OtherChainAddressType
}

/** Stored form of an address: its type byte, then the raw address. */
export function storedAddress(type: PayerAddressType, raw: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(raw.length + 1)
  bytes[0] = ADDRESS_AND_TX_ID_FORMS[type].code
  bytes.set(raw, 1)
  return bytes
}

export type AddressProblem = 'unsupported_address' | 'bad_checksum'

/**
 * Parses an address of a type that can pay, by its form. Mixed-case hex needs a valid checksum.
 * @returns the address, or the problem
 */
export function parseAddress(input: string): Address | AddressProblem {
  for (const [type, form] of FORMS_BY_LENGTH) {
    const read = form.read(input)
    if (read === 'bad_checksum') return read
    if (read) return { type, text: read.text, bytes: storedAddress(type, read.raw) }
  }
  return 'unsupported_address'
}

/** Parses an address of any chain whose wallets a cluster may list. @returns the wallet, or the problem */
export function parseWallet(input: string): Wallet | AddressProblem {
  const address = parseAddress(input)
  if (address !== 'unsupported_address') return address
  const other = parseOtherChainAddress(input)
  return other ? { ...other, bytes: storedOtherAddress(other.text) } : address
}

const storedOtherAddress = (text: string): Buffer =>
  Buffer.concat([Buffer.of(OTHER_CHAIN_CODE), Buffer.from(text)])

/** Parses an address of any chain whose wallets a cluster may list; null for an invalid address. */
export function parseWalletOrNull(input: string): Wallet | null {
  const wallet = parseWallet(input)
  return typeof wallet === 'string' ? null : wallet
}

/** Decodes the stored address of a wallet of any chain. @throws RangeError for invalid bytes */
export function decodeWallet(bytes: Uint8Array): Wallet {
  if (bytes[0] !== OTHER_CHAIN_CODE) return decodeAddress(bytes)
  const raw = Buffer.from(bytes)
  const text = raw.toString('latin1', 1)
  const other = parseOtherChainAddress(text)
  if (other?.text !== text) throw new RangeError(`${toHex(raw)} is not a stored address`)
  return { ...other, bytes: raw }
}

/** Decodes a stored address of a type that can pay. @throws RangeError for other bytes */
export function decodeAddress(bytes: Uint8Array): Address {
  const raw = Buffer.from(bytes)
  for (const [type, { code, bytes: length, text }] of FORMS_BY_LENGTH)
    if (raw[0] === code && raw.length === length + 1)
      return { type, text: text(raw.subarray(1)), bytes: raw }
  throw new RangeError(`${toHex(raw)} is not a stored address`)
}

/**
 * Address in a 32-byte word, such as the `from` word of a bid: the shortest type whose padding is all zeros.
 * @returns the stored form only, without text, because this runs once per log
 */
export function addressOfWord(word: Buffer): Buffer {
  const zeros = word.findIndex((byte) => byte !== 0)
  const [type, { bytes }] = FORMS_BY_LENGTH.find(
    ([, form]) => zeros < 0 || zeros >= word.length - form.bytes,
  )!
  return storedAddress(type, word.subarray(word.length - bytes))
}

/** EVM zero address in its stored form. The feed shows it as the actor where no wallet may be shown. */
export const STORED_ZERO_ADDRESS = addressOfWord(Buffer.alloc(32))

/**
 * Word of a stored address: 20 bytes left-padded, 32 bytes unchanged, other addresses as the Keccak-256 of the stored
 * form.
 */
export function addressToWord(bytes: Uint8Array): Buffer {
  if (bytes[0] === OTHER_CHAIN_CODE) return keccak256(bytes)
  const word = Buffer.alloc(32)
  word.set(bytes.subarray(1), 33 - bytes.length)
  return word
}
