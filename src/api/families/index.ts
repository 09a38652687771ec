import { familyOf } from '../../registry/families.js'
import { evmFamilyForm } from './evm.js'
import { type FamilyForm, quoteRoute } from './family.js'
import { solanaFamilyForm } from './solana.js'

/** The interface's table of families, one row for each. */
export const FAMILY_FORMS: readonly FamilyForm[] = [evmFamilyForm, solanaFamilyForm]

/** The route of quotes of each family. */
export const quoteRoutes = FAMILY_FORMS.map(quoteRoute)

/** The family of a network label; the EVM family for an unknown label. */
export const familyFormOf = (label: string): FamilyForm =>
  FAMILY_FORMS.find(({ family }) => family === familyOf(label)) ?? evmFamilyForm
