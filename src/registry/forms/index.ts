import type { AddressType } from '../families.js'
import { evmForm } from './evm.js'
import type { Form } from './form.js'
import { solanaForm } from './solana.js'

/** Forms by the type of the addresses, in ascending length. */
export const FORMS: Readonly<Record<AddressType, Form>> = { evm: evmForm, solana: solanaForm }
