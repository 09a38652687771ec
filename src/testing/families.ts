import type { LabelledFamilyKey } from '../registry/families.js'
import type { WorldCluster } from './cluster.js'
import { startSolana } from './solana/worldCluster.js'

/** Starts the clusters of a world, by family. Undefined for a family without one. */
export const startLocalClusters = async (...world: Parameters<typeof startSolana>) =>
  ({ solana: await startSolana(...world) }) satisfies Record<
    LabelledFamilyKey,
    WorldCluster | undefined
  >
