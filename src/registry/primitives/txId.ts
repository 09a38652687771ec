import bs58 from 'bs58'
import type { TxIdForm } from '../families.js'
import { decodeBase58 } from './base58.js'
import { fromHex, toHex } from './bytes.js'

interface IdForm {
  /** Length of an id. No two forms have the same length, because the length shows the form. */
  readonly bytes: number
  parse(input: string, bytes: number): Buffer | null
  text(tx: Uint8Array): string
}

const HASH = /^0x[0-9a-fA-F]{64}$/

const FORMS: Readonly<Record<TxIdForm, IdForm>> = {
  hash: {
    bytes: 32,
    parse: (input) => (HASH.test(input) ? fromHex(input) : null),
    text: toHex,
  },
  signature: { bytes: 64, parse: decodeBase58, text: (tx) => bs58.encode(tx) },
}
const FORM_NAMES = Object.keys(FORMS) as TxIdForm[]

/** Raw bytes of a transaction id. Null for any other text. */
export function parseTxId(input: string): Buffer | null {
  for (const { bytes, parse } of Object.values(FORMS)) {
    const tx = parse(input, bytes)
    if (tx) return tx
  }
  return null
}

/** Form of an id. Bytes of a length that no form has are shown as a hash. */
export const txIdFormOf = (tx: Uint8Array): TxIdForm =>
  FORM_NAMES.find((name) => FORMS[name].bytes === tx.length) ?? 'hash'

/** Id of a transaction as responses show it. */
export const txIdText = (tx: Uint8Array): string => FORMS[txIdFormOf(tx)].text(tx)
