import type { RunningChain } from './chains/localChains.js'
import type { DaemonEnvironment } from './processes/daemonProcess.js'
import type { SeedPrice, WorldNetwork } from './world.js'

/** A cluster of a family beside the EVM chains. It serves all networks of a world, which are counted by their hubs. */
export interface WorldCluster {
  /** Key of its settings in the chains file, and of its addresses in the world. */
  readonly key: Exclude<keyof WorldNetwork, 'hub' | 'spokes' | 'ens'>
  /** Variables of the daemon that carry its keys. */
  readonly env: DaemonEnvironment
  /** Settings in the chains file of the network that has this hub. */
  settings(index: number, hub: RunningChain, pollMs: number): object
  /** Addresses of a network. */
  addresses(index: number): object
  /** Price of the seeded community that is paid. */
  readonly price: SeedPrice
}
