import type { Network } from '../../registry/primitives/network.js'

export type PartitionedTable = 'journal' | StateTable

/** Partitioned tables that the fold fills. */
export const STATE_TABLES = [
  'names',
  'clusters',
  'wallets',
  'communities',
  'community_names',
  'moves',
] as const
export type StateTable = (typeof STATE_TABLES)[number]

/**
 * Name of a network's partition of a table. Writers name the partition itself, so that COPY and plans need no routing.
 * A replay has partitions of the same names in its own schema.
 */
export const partitionName = (table: PartitionedTable, network: Network): string =>
  `${table}_${network}`
