import { type FamilyKey, familyOf } from '../../registry/families.js'
import { evmForm } from './evm.js'
import { type FamilyForm, quoteRoute } from './family.js'
import { solanaForm } from './solana.js'

const BY_KEY: Readonly<Record<FamilyKey, FamilyForm>> = { evm: evmForm, solana: solanaForm }

/** The interface's table of families: a row each. */
export const FAMILY_FORMS: readonly FamilyForm[] = Object.values(BY_KEY)

/** A route of quotes for each. */
export const quoteRoutes = FAMILY_FORMS.map(quoteRoute)

/** The row of the chain behind a network label; that of EVM chains for a label of no family. */
export const formOf = (label: string): FamilyForm => BY_KEY[familyOf(label).key]
