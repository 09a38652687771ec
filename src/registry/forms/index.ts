import type { PayerAddressType } from '../families.js'
import { evmAddressAndTxIdForms } from './evm.js'
import type { AddressAndTxIdForms } from './form.js'
import { solanaAddressAndTxIdForms } from './solana.js'

/**
 * Forms of addresses and transaction ids by address type. The addresses are in ascending length, because
 * `addressOfWord` takes the shortest type that fits.
 */
export const ADDRESS_AND_TX_ID_FORMS: Readonly<Record<PayerAddressType, AddressAndTxIdForms>> = {
  evm: evmAddressAndTxIdForms,
  solana: solanaAddressAndTxIdForms,
}
