import type { AddressType } from '../families.js'
import { evmIdForms } from './evm.js'
import type { IdForms } from './form.js'
import { solanaIdForms } from './solana.js'

/** Forms of addresses and transaction ids by address type, in ascending length of the addresses. */
export const ID_FORMS: Readonly<Record<AddressType, IdForms>> = {
  evm: evmIdForms,
  solana: solanaIdForms,
}
