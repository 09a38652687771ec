import type { UnsignedTransaction } from '../../chains/chain.js'
import { type ChainFamilyKey, familyOfLabel } from '../../registry/families.js'
import { contractCallJson, evmFamilyInterface } from './evm.js'
import type { FamilyInterface } from './family.js'
import { solanaFamilyInterface } from './solana.js'

const BY_KEY: Readonly<Record<ChainFamilyKey, FamilyInterface>> = {
  evm: evmFamilyInterface,
  solana: solanaFamilyInterface,
}

/** The API's code for each chain family. */
export const FAMILY_INTERFACES: readonly FamilyInterface[] = Object.values(BY_KEY)

/** The family of a network label; the EVM family for an unknown label. */
export const familyInterfaceOf = (label: string): FamilyInterface =>
  BY_KEY[familyOfLabel(label).key]

export const transactionJson = (transaction: UnsignedTransaction) =>
  'to' in transaction
    ? { type: transaction.type, ...contractCallJson(transaction) }
    : { type: transaction.type, data: transaction.data }
