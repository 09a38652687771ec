import type { Network } from '../registry/primitives/network.js'
import type { EnsParents } from './paths.js'

/** What the pages know of their service before they ask. */
export interface ServiceFacts {
  ens: EnsParents
  /** Networks with a hub. */
  networks: readonly Network[]
  /** Its chains are those of a local world, under the ids of public ones. */
  isLocal: boolean
}
