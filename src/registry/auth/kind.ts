import type { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Wallet } from '../primitives/address.js'

/** Tells whether a wallet signed a message. */
export type Check = (message: string, wallet: Wallet) => boolean

/** A kind of wallets, by how they sign text messages: a row of the table in `kinds.ts`. */
export interface WalletKind {
  /** Name of its accounts in a message. */
  account: string
  /** The address as its messages show it; left out where that is the canonical form. */
  shown?(text: string): string
  /** Its messages name the chain that checks smart wallets. */
  hasChainId?: true
  /** Tells whether an address of a type may be one of this kind. */
  proves(type: Wallet['type']): boolean
  /** Pattern of the hex of its stored addresses, where it is not the coin's. */
  stored?: string
  /** The coin of its addresses (SLIP-44) with their form in ENS (ENSIP-9). */
  coin: Coin
  /** Words about its signatures, in whatever envelope (`envelope.ts`). */
  form: string
  /** Sentence that names the signatures and accounts of its chain that are not verified here. */
  refused?: string
  /** Reads a signature. @returns null for any other text */
  read(signature: string): Check | null
}

export interface Coin {
  type: bigint
  /** Pattern of the hex of stored addresses of the coin: those of a testnet are none. */
  stored: string
  bytes(wallet: Wallet): Uint8Array
}

/** Pattern of the hex of stored addresses whose text begins so. */
export const startsWith = (...texts: readonly string[]): string =>
  `^03(${texts.map((text) => Buffer.from(text).toString('hex')).join('|')})`

/** Check that succeeds where one of the given succeeds; null where none is given. */
export function anyOf(checks: readonly (Check | null)[]): Check | null {
  const given = checks.filter((check) => check !== null)
  return given.length === 0
    ? null
    : (message, wallet) => given.some((check) => check(message, wallet))
}

/** Tells whether a key signed a hash by ECDSA with a low s. @param signature r ‖ s */
export function isSignedByEcdsa(
  curve: Pick<typeof secp256k1, 'verify'>,
  [signature, hash, key]: readonly [Uint8Array, Uint8Array, Uint8Array],
): boolean {
  try {
    return curve.verify(signature, hash, key, { format: 'compact', lowS: true })
  } catch {
    // r or s out of range
    return false
  }
}
