import type { LabelledFamilyKey } from '../registry/families.js'
import type { LocalNodeCluster } from './cluster.js'
import { startLocalSolanaCluster } from './solana/worldCluster.js'

/** Starts the clusters of a world, by family. Undefined for a family without one. */
export const startLocalNodeClusters = async (
  ...world: Parameters<typeof startLocalSolanaCluster>
) =>
  ({ solana: await startLocalSolanaCluster(...world) }) satisfies Record<
    LabelledFamilyKey,
    LocalNodeCluster | undefined
  >
