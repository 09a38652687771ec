import type { LabelledFamilyKey } from '../registry/families.js'
import type { LocalNonEvmChain } from './cluster.js'
import { startLocalSolanaCluster } from './solana/worldCluster.js'

/**
 * Starts a local world's node clusters of chain families other than EVM. @returns clusters by family; undefined for a
 * cluster that was not started
 */
export const startLocalNonEvmChains = async (
  ...world: Parameters<typeof startLocalSolanaCluster>
) =>
  ({ solana: await startLocalSolanaCluster(...world) }) satisfies Record<
    LabelledFamilyKey,
    LocalNonEvmChain | undefined
  >
