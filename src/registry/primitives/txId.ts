import bs58 from 'bs58'
import { TX_ID_FORMS, type TxIdForm } from '../families.js'
import { decodeBase58 } from './base58.js'
import { fromHex, toHex } from './bytes.js'

interface IdForm {
  parse(input: string, bytes: number): Buffer | null
  text(tx: Uint8Array): string
}

const HASH = /^0x[0-9a-fA-F]{64}$/

const FORMS: Readonly<Record<TxIdForm, IdForm>> = {
  hash: {
    parse: (input) => (HASH.test(input) ? fromHex(input) : null),
    text: toHex,
  },
  signature: { parse: decodeBase58, text: (tx) => bs58.encode(tx) },
}

/** Raw bytes of a transaction id. Null for any other text. */
export function parseTxId(input: string): Buffer | null {
  for (const [bytes, form] of Object.entries(TX_ID_FORMS)) {
    const tx = FORMS[form].parse(input, Number(bytes))
    if (tx) return tx
  }
  return null
}

/** Form of an id. Bytes of a length that no form has are shown as a hash. */
export const txIdFormOf = (tx: Uint8Array): TxIdForm =>
  (TX_ID_FORMS as Readonly<Record<number, TxIdForm>>)[tx.length] ?? 'hash'

/** Id of a transaction as responses show it. */
export const txIdText = (tx: Uint8Array): string => FORMS[txIdFormOf(tx)].text(tx)
