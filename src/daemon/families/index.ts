import type { ChainFamilyKey } from '../../registry/families.js'
import { evmFamily } from './evm.js'
import type { DaemonChainFamily } from './family.js'
import { solanaFamily } from './solana.js'

/** The daemon's code by chain family, in the order in which chains are opened: the hub's family first. */
const DAEMON_FAMILIES: Readonly<Record<ChainFamilyKey, DaemonChainFamily>> = {
  evm: evmFamily,
  solana: solanaFamily,
}

/** The daemon's code for every family of chains. */
export const CHAIN_FAMILIES: readonly DaemonChainFamily[] = Object.values(DAEMON_FAMILIES)
