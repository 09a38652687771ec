import type { FamilyKey } from '../../registry/families.js'
import type { RelayerTelemetry } from '../../relayer/relayerTelemetry.js'
import { evmFamily } from './evm.js'
import type { ChainFamily } from './family.js'
import { solanaFamily } from './solana.js'

/** In the order in which they are opened: the hub's first. */
const BY_KEY: Readonly<Record<FamilyKey, ChainFamily>> = { evm: evmFamily, solana: solanaFamily }

/** Every family of chains. */
export const CHAIN_FAMILIES: readonly ChainFamily[] = Object.values(BY_KEY)

export const telemetryOf = (families: readonly ChainFamily[]): readonly RelayerTelemetry[] =>
  families.flatMap(({ telemetry }) => telemetry ?? [])
