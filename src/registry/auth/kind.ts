import type { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Wallet } from '../primitives/address.js'
import type { SignatureEnvelope } from './envelope.js'

/** Returns whether a wallet signed a message. */
export type SignatureCheck = (message: string, wallet: Wallet) => boolean

/** A kind of wallets, defined by how they sign text messages: a row of the table in `kinds.ts`. */
export interface WalletKind {
  /** Name of the kind's accounts in messages: "Ethereum" in "your Ethereum account". */
  account: string
  /** Converts a canonical address to the form that messages of this kind show. Absent where both are the same. */
  shown?(text: string): string
  /** True if messages of this kind name the chain on which smart wallets are checked. */
  hasChainId?: true
  /** Whether an address of a type can belong to a wallet of this kind. */
  proves(type: Wallet['type']): boolean
  /** Pattern of the hex of the kind's stored addresses, where it differs from the pattern of `coin`. */
  stored?: string
  coin: EnsCoinType
  /**
   * Noun phrase that describes the kind's signatures, without their envelope (`envelope.ts`): "64 bytes in hex, base58
   * or base64". It completes the error text "The signature is not …", and is part of the API's documentation.
   */
  form: string
  /** Sentence about signatures and accounts of the chain that are not supported. */
  refused?: string
  /**
   * Canonical text of a signature's bytes, the only one that evidence may have. Null for other bytes. Default: hex.
   * @param fields of the JSON around the signature
   */
  canonical?(bytes: Buffer, fields: SignatureEnvelope['fields']): string | null
  /** Reads a signature. @returns null for any other text */
  read(signature: string): SignatureCheck | null
}

/** Coin type under which ENS answers addresses of a kind. */
export interface EnsCoinType {
  /** Number by SLIP-44. */
  type: bigint
  /** Pattern of the hex of the coin's stored addresses, without testnet addresses. */
  stored: string
  /** Form of the wallet's address in ENS (ENSIP-9). */
  bytes(wallet: Wallet): Uint8Array
}

/** Regular expression for the hex of stored addresses whose text begins with one of the prefixes. */
export const storedAddressPatternOfPrefixes = (...texts: readonly string[]): string =>
  `^03(${texts.map((text) => Buffer.from(text).toString('hex')).join('|')})`

/**
 * Combines checks to one that succeeds if any of them succeeds. Null checks are ignored. Null if all checks are null.
 */
export function combineSignatureChecks(
  checks: readonly (SignatureCheck | null)[],
): SignatureCheck | null {
  const given = checks.filter((check) => check !== null)
  return given.length === 0
    ? null
    : (message, wallet) => given.some((check) => check(message, wallet))
}

/** Whether a key signed a hash by ECDSA with a low s. @param signature r ‖ s, 64 bytes */
export function isSignedByEcdsa(
  curve: Pick<typeof secp256k1, 'verify'>,
  [signature, hash, key]: readonly [Uint8Array, Uint8Array, Uint8Array],
): boolean {
  try {
    return curve.verify(signature, hash, key, { format: 'compact', lowS: true })
  } catch {
    // r or s is out of range
    return false
  }
}
