import type { RelayerKind } from '../../relayer/relayerKind.js'
import { evmFamily } from './evm.js'
import type { ChainFamily } from './family.js'
import { solanaFamily } from './solana.js'

/** Every family of chains, in the order in which they are opened: the hub's first. */
export const FAMILIES: readonly ChainFamily[] = [evmFamily, solanaFamily]

export const relayerKindsOf = (families: readonly ChainFamily[]): readonly RelayerKind[] =>
  families.flatMap(({ relayers }) => relayers ?? [])
