import { type Replayed, replay } from '../db/journal/replay.js'
import { countEntries } from '../ops/progressBar.js'
import { NETWORKS } from '../registry/primitives/network.js'
import { withPool } from './database.js'

/**
 * `clusterd replay`: rebuilds each network from its journal and compares the state hashes; exit code 1 for a
 * difference.
 */
export async function replayAll(): Promise<void> {
  const results = await withPool({ command: 'replay' }, async (pool) => {
    const done: Replayed[] = []
    for (const network of NETWORKS) done.push(await replay(pool, network, countEntries(network)))
    return done
  })
  for (const { network, generation, entries, live, rebuilt } of results) {
    const verdict = live === rebuilt ? 'equal' : 'DIFFERENT'
    console.log(`${network}: ${entries} entries of generation ${generation}, ${verdict}`)
    console.log(`  live    ${live}\n  rebuilt ${rebuilt}`)
  }
  if (results.some(({ live, rebuilt }) => live !== rebuilt)) process.exitCode = 1
}
