import { type ChainFamilyKey, familyOfLabel } from '../../registry/families.js'
import { evmFamilyInterface } from './evm.js'
import { type FamilyInterface, quoteRoute } from './family.js'
import { solanaFamilyInterface } from './solana.js'

const BY_KEY: Readonly<Record<ChainFamilyKey, FamilyInterface>> = {
  evm: evmFamilyInterface,
  solana: solanaFamilyInterface,
}

/** The API's code for each chain family. */
export const FAMILY_INTERFACES: readonly FamilyInterface[] = Object.values(BY_KEY)

/** The route of quotes of each family. */
export const quoteRoutes = FAMILY_INTERFACES.map(quoteRoute)

/** The family of a network label; the EVM family for an unknown label. */
export const familyInterfaceOf = (label: string): FamilyInterface =>
  BY_KEY[familyOfLabel(label).key]
