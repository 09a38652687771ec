import { type Replayed, replay } from '../db/journal/replay.js'
import { countEntries } from '../ops/progressBar.js'
import { NETWORKS } from '../registry/primitives/network.js'
import { withPool } from './database.js'

/** Entries that a snapshot lies behind the journal's end: a rewind begins before the newest. */
const SNAPSHOT_BEHIND = 20_000

export interface ReplayCommand {
  keep?: boolean
  behind?: string
  incremental?: boolean
}

function behindOf(text: string | undefined): number {
  if (text === undefined) return SNAPSHOT_BEHIND
  if (!/^[0-9]{1,12}$/.test(text)) throw new Error('--behind takes a number of entries.')
  return Number(text)
}

/**
 * `clusterd replay`: rebuilds each network from its journal and compares the state hashes; exit code 1 for a
 * difference. With `--keep` it keeps a snapshot, from which `--incremental` and `clusterd rewind` go on.
 */
export async function replayAll({ keep, behind, incremental = false }: ReplayCommand): Promise<void> {
  const keepBehind = keep ? behindOf(behind) : null

  const results = await withPool({ command: 'replay' }, async (pool) => {
    const done: Replayed[] = []
    for (const network of NETWORKS)
      done.push(
        await replay(pool, network, { onProgress: countEntries(network), isIncremental: incremental, keepBehind }),
      )
    return done
  })
  for (const { network, generation, entries, from, live, rebuilt, kept } of results) {
    const verdict = live === rebuilt ? 'equal' : 'DIFFERENT'
    const since = from > 0 ? `, those after ${from} folded` : ''
    console.log(`${network}: ${entries} entries of generation ${generation}${since}, ${verdict}`)
    console.log(`  live    ${live}\n  rebuilt ${rebuilt}`)
    if (kept !== null) console.log(`  kept the tables of entry ${kept}`)
  }
  if (results.some(({ live, rebuilt }) => live !== rebuilt)) process.exitCode = 1
}
