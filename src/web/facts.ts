import type { Network } from '../registry/primitives/network.js'
import type { EnsParents } from './paths.js'

/** Facts about the service that its pages have without a request. */
export interface ServiceFacts {
  ens: EnsParents
  /** Networks that have a hub. */
  networks: readonly Network[]
  /** True where all chains belong to a local world (a test network) and use the ids of public chains. */
  isLocal: boolean
}
