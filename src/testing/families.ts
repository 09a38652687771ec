import type { LabelledFamilyKey } from '../registry/families.js'
import type { LocalNonEvmChain } from './nonEvmChain.js'
import { startLocalSolanaCluster } from './solana/worldCluster.js'

/**
 * Starts a local world's chains of families other than EVM. @returns chains by family; undefined for a
 * chain that was not started
 */
export const startLocalNonEvmChains = async (
  ...world: Parameters<typeof startLocalSolanaCluster>
) =>
  ({ solana: await startLocalSolanaCluster(...world) }) satisfies Record<
    LabelledFamilyKey,
    LocalNonEvmChain | undefined
  >
