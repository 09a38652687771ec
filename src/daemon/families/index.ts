import type { ChainFamilyKey } from '../../registry/families.js'
import { evmFamily } from './evm.js'
import type { DaemonChainFamily } from './family.js'
import { solanaFamily } from './solana.js'

/** The daemon's code by chain family, in the order in which chains are opened: the hub's family first. */
const BY_KEY: Readonly<Record<ChainFamilyKey, DaemonChainFamily>> = {
  evm: evmFamily,
  solana: solanaFamily,
}

/** Every family of chains. */
export const CHAIN_FAMILIES: readonly DaemonChainFamily[] = Object.values(BY_KEY)
