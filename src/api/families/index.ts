import { familyOf } from '../../registry/families.js'
import { evmForm } from './evm.js'
import { type FamilyForm, quoteRoute } from './family.js'
import { solanaForm } from './solana.js'

/** The interface's table of families: a row each. */
export const FAMILY_FORMS: readonly FamilyForm[] = [evmForm, solanaForm]

/** A route of quotes for each. */
export const quoteRoutes = FAMILY_FORMS.map(quoteRoute)

/** The row of the chain behind a network label; that of EVM chains for a label of no family. */
export const formOf = (label: string): FamilyForm =>
  FAMILY_FORMS.find(({ family }) => family === familyOf(label)) ?? evmForm
