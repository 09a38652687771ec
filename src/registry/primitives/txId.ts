import bs58 from 'bs58'
import type { TxIdForm } from '../families.js'
import { decodeBase58 } from './base58.js'
import { fromHex, toHex } from './bytes.js'

const HASH = /^0x[0-9a-fA-F]{64}$/
const SIGNATURE_BYTES = 64

/** Raw bytes of a transaction id. Their length shows its form. Null for any other text. */
export const parseTxId = (input: string): Buffer | null =>
  HASH.test(input) ? fromHex(input) : decodeBase58(input, SIGNATURE_BYTES)

export const txIdFormOf = (tx: Uint8Array): TxIdForm =>
  tx.length === SIGNATURE_BYTES ? 'signature' : 'hash'

/** Id of a transaction as responses show it. */
export const txIdText = (tx: Uint8Array): string =>
  txIdFormOf(tx) === 'signature' ? bs58.encode(tx) : toHex(tx)
