import type { PayerAddressType } from '../families.js'
import { ADDRESS_AND_TX_ID_FORMS } from '../forms/index.js'

/** Raw bytes of a transaction id. Null for any other text. */
export function parseTxId(input: string): Buffer | null {
  for (const { tx } of Object.values(ADDRESS_AND_TX_ID_FORMS)) {
    const id = tx?.parse(input)
    if (id) return id
  }
  return null
}

/** Address type whose chains have transaction ids of this length. `evm` for any other length: responses show a hash. */
export const txIdFormOf = (id: Uint8Array): PayerAddressType =>
  (Object.keys(ADDRESS_AND_TX_ID_FORMS) as PayerAddressType[]).find(
    (type) => ADDRESS_AND_TX_ID_FORMS[type].tx?.bytes === id.length,
  ) ?? 'evm'

/** Id of a transaction as responses show it. */
export const txIdText = (id: Uint8Array): string =>
  ADDRESS_AND_TX_ID_FORMS[txIdFormOf(id)].tx!.text(id)
