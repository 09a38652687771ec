import type { LabelledKey } from '../../registry/families.js'
import type { MadeKey } from './madeKey.js'
import { makeSolanaKey } from './solana.js'

/** What `clusterd init` makes for each family that an option adds. */
export const KEY_MAKERS: Readonly<Record<LabelledKey, () => MadeKey>> = { solana: makeSolanaKey }
