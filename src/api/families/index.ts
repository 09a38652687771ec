import { familyOf } from '../../registry/families.js'
import { evmForm } from './evm.js'
import { type FamilyForm, quoteRoute } from './family.js'
import { solanaForm } from './solana.js'

/** The interface's table of families, one row for each. */
export const FAMILY_FORMS: readonly FamilyForm[] = [evmForm, solanaForm]

/** The route of quotes of each family. */
export const quoteRoutes = FAMILY_FORMS.map(quoteRoute)

/** The family of a network label; the EVM family for an unknown label. */
export const familyFormOf = (label: string): FamilyForm =>
  FAMILY_FORMS.find(({ family }) => family === familyOf(label)) ?? evmForm
