import type { AddressType } from '../families.js'
import { evmForm } from './evm.js'
import type { IdForms } from './form.js'
import { solanaForm } from './solana.js'

/** Forms by the type of the addresses, in ascending length. */
export const ID_FORMS: Readonly<Record<AddressType, IdForms>> = { evm: evmForm, solana: solanaForm }
