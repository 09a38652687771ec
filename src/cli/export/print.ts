import type { Manifest } from '../../db/journal/export/read.js'
import { NETWORKS } from '../../registry/primitives/network.js'

/** Prints what an export has of each network. */
export function printManifest({ networks }: Pick<Manifest, 'networks'>): void {
  for (const network of NETWORKS) {
    const found = networks[network]
    if (!found) continue
    console.log(`  ${network}: ${found.seq} entries of generation ${found.generation}, state hash ${found.stateHash}`)
    const { count, hash } = found.checkpoint
    console.log(`    feed ${found.feed}, checkpoint over ${count} of its ${found.publicSeq} events: 0x${hash}`)
  }
}
