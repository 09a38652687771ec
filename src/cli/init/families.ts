import type { LabelledKey } from '../../registry/families.js'
import type { MadeKey } from './madeKey.js'
import { makeSolanaKey } from './solana.js'

/** Makes the relayer's key for each family that an option of `clusterd init` adds. */
export const KEY_MAKERS: Readonly<Record<LabelledKey, () => MadeKey>> = { solana: makeSolanaKey }
