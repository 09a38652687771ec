import { type FamilyKey, familyOf } from '../../registry/families.js'
import { evmInterface } from './evm.js'
import { type FamilyInterface, quoteRoute } from './family.js'
import { solanaInterface } from './solana.js'

const BY_KEY: Readonly<Record<FamilyKey, FamilyInterface>> = {
  evm: evmInterface,
  solana: solanaInterface,
}

/** The API's code for each chain family. */
export const FAMILY_INTERFACES: readonly FamilyInterface[] = Object.values(BY_KEY)

/** The route of quotes of each family. */
export const quoteRoutes = FAMILY_INTERFACES.map(quoteRoute)

/** The family of a network label; the EVM family for an unknown label. */
export const familyInterfaceOf = (label: string): FamilyInterface => BY_KEY[familyOf(label).key]
