import { type FamilyKey, familyOf } from '../../registry/families.js'
import { evmFamilyForm } from './evm.js'
import { type FamilyForm, quoteRoute } from './family.js'
import { solanaFamilyForm } from './solana.js'

const BY_KEY: Readonly<Record<FamilyKey, FamilyForm>> = {
  evm: evmFamilyForm,
  solana: solanaFamilyForm,
}

/** The interface's table of families, one row for each. */
export const FAMILY_FORMS: readonly FamilyForm[] = Object.values(BY_KEY)

/** The route of quotes of each family. */
export const quoteRoutes = FAMILY_FORMS.map(quoteRoute)

/** The family of a network label; the EVM family for an unknown label. */
export const familyFormOf = (label: string): FamilyForm => BY_KEY[familyOf(label).key]
