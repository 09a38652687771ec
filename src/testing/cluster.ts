import type { LabelledFamilyKey } from '../registry/families.js'
import type { RunningChain } from './chains/localChains.js'
import type { DaemonEnvironment } from './processes/daemonProcess.js'
import type { SeedCommunityPrice } from './world.js'

/**
 * A node cluster of a chain family other than EVM, such as a local Solana. It serves all networks of a local world.
 * `index` numbers the networks in the order of their hubs.
 */
export interface LocalNonEvmChain {
  /** Key of the cluster's settings in the chains file, and of its addresses in `WorldNetwork`. */
  readonly key: LabelledFamilyKey
  /** Environment variables with the cluster's keys for the daemon. */
  readonly env: DaemonEnvironment
  /** Settings of the cluster in the chains file, for the network with this number and hub. */
  settings(index: number, hub: RunningChain, pollMs: number): object
  /** For clients of a network: the cluster's URLs, and the address of the network's program. */
  addresses(index: number): object
  /** Price, on this cluster, of a name in the seeded paid community. */
  readonly price: SeedCommunityPrice
}
