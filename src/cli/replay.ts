import { type Replayed, replay } from '../db/journal/replay.js'
import { SNAPSHOT_BEHIND } from '../db/journal/snapshot/index.js'
import { type ReplayedRange, replayRange } from '../db/journal/snapshot/range.js'
import { countEntries } from '../ops/progressBar.js'
import { withPool } from './database.js'
import { type NetworkOptions, networksOf } from './values.js'

export interface ReplayCommand extends NetworkOptions {
  keep?: boolean
  behind?: string
  incremental?: boolean
  from?: string
  to?: string
}

function entriesOf(option: string, text: string): number {
  if (!/^[0-9]{1,12}$/.test(text)) throw new Error(`${option} takes a number of entries.`)
  return Number(text)
}

/**
 * `clusterd replay`: rebuilds each network from its journal and compares the state hashes; exit code 1 for a
 * difference. With `--keep` it keeps a snapshot, from which `--incremental`, `--from` and `clusterd rewind` go on.
 */
export async function replayAll(command: ReplayCommand): Promise<void> {
  if (command.from !== undefined) return replayFrom(command.from, command)
  if (command.to !== undefined) throw new Error('--to needs --from: the first entry of the range.')
  const { keep, behind, incremental: isIncremental = false } = command
  const keepBehind = keep ? (behind === undefined ? SNAPSHOT_BEHIND : entriesOf('--behind', behind)) : null

  const results = await withPool({ command: 'replay' }, async (pool) => {
    const done: Replayed[] = []
    for (const network of networksOf(command))
      done.push(await replay(pool, network, { onProgress: countEntries(network), isIncremental, keepBehind }))
    return done
  })
  for (const { network, generation, entries, from, live, rebuilt, kept } of results) {
    const since = from > 0 ? `, those after ${from} folded` : ''
    print({ live, rebuilt }, `${network}: ${entries} entries of generation ${generation}${since}`)
    if (kept !== null) console.log(`  kept the tables of entry ${kept}`)
  }
}

/** `clusterd replay --from <entry>`: compares what the journal says of a range's entries with what the fold gives. */
async function replayFrom(from: string, command: ReplayCommand): Promise<void> {
  const [network, other] = networksOf(command)
  if (other) throw new Error('--from needs --mainnet or --testnet: each has a journal of its own.')
  const range = {
    from: entriesOf('--from', from),
    ...(command.to !== undefined && { to: entriesOf('--to', command.to) }),
  }
  const done = await withPool({ command: 'replay' }, (pool) =>
    replayRange(pool, network!, { ...range, onProgress: countEntries(network!) }),
  )
  const { generation, to, base, different } = done
  const since = base > 0 ? `, folded after ${base}` : ''
  print(done, `${network}: entries ${done.from} to ${to} of generation ${generation}${since}`)
  if (different) console.log(`  the first that differs: entry ${different.seq} (${different.kind})`)
}

function print({ live, rebuilt }: Pick<ReplayedRange, 'live' | 'rebuilt'>, what: string): void {
  const isEqual = live === rebuilt
  console.log(`${what}, ${isEqual ? 'equal' : 'DIFFERENT'}`)
  console.log(`  live    ${live}\n  rebuilt ${rebuilt}`)
  if (!isEqual) process.exitCode = 1
}
