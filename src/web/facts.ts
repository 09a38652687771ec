import type { Network } from '../registry/primitives/network.js'
import type { EnsParents } from './paths.js'

/** Data about the service that is written into its pages, so that they need no request for it. */
export interface ServiceInfo {
  ens: EnsParents
  /** Networks that have a hub. */
  networks: readonly Network[]
  /** True if all chains belong to a local world, a test network on one machine. They have labels of public chains. */
  isLocal: boolean
}
