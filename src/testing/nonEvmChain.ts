import type { LabelledFamilyKey } from '../registry/families.js'
import type { RunningChain } from './chains/localChains.js'
import type { DaemonEnvironment } from './processes/daemonProcess.js'
import type { SeedCommunityPrice } from './world.js'

/**
 * A local chain of a family other than EVM, such as Solana. It serves all networks of a local world.
 * `index` numbers the networks from 0, in the order of their hubs.
 */
export interface LocalNonEvmChain {
  /** Key of the chain's settings in the chains file, and of its addresses in `WorldNetwork`. */
  readonly key: LabelledFamilyKey
  /** Environment variables with the chain's keys for the daemon. */
  readonly env: DaemonEnvironment
  /** Settings of the chain in the chains file, for the network with this number and hub. */
  settings(index: number, hub: RunningChain, pollMs: number): object
  /** For clients of a network: the chain's URLs, and the address of the network's program. */
  addresses(index: number): object
  /** Price, on this chain, of a name in the seeded paid community. */
  readonly price: SeedCommunityPrice
}
