import type { AddressType } from '../families.js'
import { evmForm } from './evm.js'
import type { IdForms } from './form.js'
import { solanaForm } from './solana.js'

/** Forms of addresses and transaction ids by address type, in ascending length of the addresses. */
export const ID_FORMS: Readonly<Record<AddressType, IdForms>> = { evm: evmForm, solana: solanaForm }
