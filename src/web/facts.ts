import type { Network } from '../registry/primitives/network.js'
import type { EnsParents } from './paths.js'

/** Data about the service that is written into its pages, so that they need no request for it. */
export interface ServiceInfo {
  ens: EnsParents
  /** Networks that have a hub. */
  networks: readonly Network[]
  /** True where all chains belong to a local world (a test network), whose chains have the labels of public chains. */
  isLocal: boolean
}
