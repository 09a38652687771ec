import { type Replayed, replay } from '../db/journal/replay.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import { withPool } from './database.js'

/** `clusterd replay`: rebuilds each network from its journal and compares; exit code 1 when one differs. */
export async function replayAll(): Promise<void> {
  const results = await withPool({ command: 'replay' }, async (pool) => {
    const done: Replayed[] = []
    for (const network of NETWORKS) done.push(await replay(pool, network, progressOf(network)))
    return done
  })
  for (const { network, generation, entries, live, rebuilt } of results) {
    const verdict = live === rebuilt ? 'equal' : 'DIFFERENT'
    console.log(`${network}: ${entries} entries of generation ${generation}, ${verdict}`)
    console.log(`  live    ${live}\n  rebuilt ${rebuilt}`)
  }
  if (results.some(({ live, rebuilt }) => live !== rebuilt)) process.exitCode = 1
}

/** A line that counts up, on a terminal only. */
function progressOf(network: Network): (done: number, total: number) => void {
  return (done, total) => {
    if (!process.stderr.isTTY) return
    process.stderr.write(done < total ? `\r${network}: ${done} of ${total} entries` : '\r\x1b[K')
  }
}
