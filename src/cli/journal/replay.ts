import { type ReplayHashes, replayJournal } from '../../db/journal/replay.js'
import { withDatabasePool } from '../database.js'
import { type NetworkOptions, networksOfOptions } from '../values.js'

/**
 * `clusterd journal replay`: rebuilds each network's tables from its journal, beside the live ones, and compares their
 * state hashes. Exits with 1 if they differ.
 */
export async function replayJournals(command: NetworkOptions): Promise<void> {
  await withDatabasePool(async (pool) => {
    const done: ReplayHashes[] = []
    for (const network of networksOfOptions(command)) done.push(await replayJournal(pool, network))
    for (const replayed of done) printReplayHashes(replayed)
  })
}

function printReplayHashes({ network, generation, entries, live, rebuilt }: ReplayHashes): void {
  const isEqual = live === rebuilt
  console.log(
    `${network}: ${entries} entries of generation ${generation}, ${isEqual ? 'equal' : 'DIFFERENT'}`,
  )
  console.log(`  live    ${live}\n  rebuilt ${rebuilt}`)
  if (!isEqual) process.exitCode = 1
}
