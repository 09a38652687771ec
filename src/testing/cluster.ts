import type { LabelledFamilyKey } from '../registry/families.js'
import type { RunningChain } from './chains/localChains.js'
import type { DaemonEnvironment } from './processes/daemonProcess.js'
import type { SeedPrice } from './world.js'

/**
 * A cluster of a chain family other than EVM. It serves all networks of a world, which are numbered in the order of
 * their hubs.
 */
export interface LocalNodeCluster {
  /** Key of its settings in the chains file, and of its addresses in the world. */
  readonly key: LabelledFamilyKey
  /** Environment variables with the cluster's keys for the daemon. */
  readonly env: DaemonEnvironment
  /** Settings in the chains file, for the network with this hub. */
  settings(index: number, hub: RunningChain, pollMs: number): object
  /** Addresses of a network. */
  addresses(index: number): object
  /** Price of the seeded paid community. */
  readonly price: SeedPrice
}
