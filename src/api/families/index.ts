import type { UnsignedTransaction } from '../../chains/chain.js'
import { type ChainFamilyKey, familyOfLabel } from '../../registry/families.js'
import { contractCallJson, evmFamilyInterface } from './evm.js'
import type { FamilyInterface } from './family.js'
import { solanaFamilyInterface } from './solana.js'

const FAMILY_INTERFACE_BY_KEY: Readonly<Record<ChainFamilyKey, FamilyInterface>> = {
  evm: evmFamilyInterface,
  solana: solanaFamilyInterface,
}

/** The API's code for each chain family. */
export const FAMILY_INTERFACES: readonly FamilyInterface[] = Object.values(FAMILY_INTERFACE_BY_KEY)

/** The API's code for the chain family of a network label; that of EVM chains for an unknown label. */
export const familyInterfaceOf = (label: string): FamilyInterface =>
  FAMILY_INTERFACE_BY_KEY[familyOfLabel(label).key]

export const transactionJson = (transaction: UnsignedTransaction) =>
  'to' in transaction
    ? { type: transaction.type, ...contractCallJson(transaction) }
    : { type: transaction.type, data: transaction.data }
