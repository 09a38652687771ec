import { isoTimestamp } from '../../api/http/timestamps.js'
import { hasJournal, withScratchDatabase } from '../../db/deployment/scratch.js'
import { readJournalHead } from '../../db/journal/head.js'
import { type ReplayHashes, replayJournal } from '../../db/journal/replay.js'
import { migrate } from '../../db/pg/migrate.js'
import { createPool } from '../../db/pg/pool.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { withDatabaseUrl } from '../database.js'
import { errorMessageOf, printJson } from '../output.js'
import { restoreDump, restoreProgramOf } from './dump.js'

/** Result of one network's replay in the restored database. */
interface CheckedNetwork extends ReplayHashes {
  /** Time of the newest entry of the network's journal in the dump, ISO 8601. */
  newestAt: string
  /** True if the restored tables have the state hash that the journal folds to. */
  isEqual: boolean
}

/**
 * `clusterd backup check`: restores a dump into a scratch database, folds its journal again, and compares the state
 * hash of the result with the hash of the dump's tables. Exits with 1 where they differ.
 * @throws Error with one sentence where the dump can not be restored, has no journal or one that can not be folded, or
 * the command is interrupted
 */
export async function checkBackup(dump: string, { json }: { json?: boolean }): Promise<void> {
  const restorer = await restoreProgramOf(dump)
  const check = async (scratch: string, signal: AbortSignal): Promise<void> => {
    await restoreDump(restorer, scratch, signal)
    await requireJournal(dump, scratch)
    const networks = await replayRestoredJournals(scratch)
    const isGood = networks.every(({ isEqual }) => isEqual)
    if (json) printJson({ dump, isGood, networks })
    else printCheckedNetworks(dump, isGood, networks)
    if (!isGood) process.exitCode = 1
  }
  await withDatabaseUrl((url) =>
    runUntilInterrupted(({ signal, ended }) =>
      withScratchDatabase(url, (scratch) => Promise.race([ended, check(scratch, signal)])),
    ),
  )
}

interface Interruption {
  signal: AbortSignal
  /** Rejects with the signal's reason when the work is interrupted. */
  ended: Promise<never>
}

/**
 * Runs work until it ends, or until Ctrl-C, SIGTERM or the end of the terminal. The signal handlers are installed
 * before the work begins, so that an interrupted command drops its scratch database.
 * @param work has to stop when `ended` rejects
 */
async function runUntilInterrupted<T>(
  work: (interruption: Interruption) => Promise<T>,
): Promise<T> {
  const interrupted = new AbortController()
  const { signal } = interrupted
  const interrupt = () => interrupted.abort(new Error('interrupted: nothing is known of the dump.'))
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  ended.catch(() => {})
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.once(name, interrupt)
  try {
    return await work({ signal, ended })
  } finally {
    for (const name of signals) process.off(name, interrupt)
  }
}

/** @throws Error for a database without a journal: `migrate` would create an empty one, and the check would pass */
async function requireJournal(dump: string, url: string): Promise<void> {
  if (!(await hasJournal(url)))
    throw new Error(
      `${dump} holds no registry: it has no table journal in the schema of DATABASE_URL. Dump the database of the daemons.`,
    )
}

async function replayRestoredJournals(url: string): Promise<CheckedNetwork[]> {
  // a dump of an earlier version gets the tables of this version
  await migrate(url)
  const pool = createPool({ url, max: 2, applicationName: 'clusterd backup' })
  try {
    const checked: CheckedNetwork[] = []
    for (const network of NETWORKS) {
      const { atMs } = await readJournalHead(pool, network)
      const replayed = await replayJournal(pool, network).catch((error) => {
        const text = `the journal of ${network} in the dump can not be folded: ${errorMessageOf(error)}`
        throw new Error(text, { cause: error })
      })
      const isEqual = replayed.live === replayed.rebuilt
      checked.push({ ...replayed, newestAt: isoTimestamp(atMs), isEqual })
    }
    return checked
  } finally {
    await pool.end()
  }
}

function printCheckedNetworks(
  dump: string,
  isGood: boolean,
  checked: readonly CheckedNetwork[],
): void {
  for (const { network, entries, newestAt, live, rebuilt, isEqual } of checked) {
    const newest = entries === 0 ? '' : `, the newest of ${newestAt}`
    console.log(`${network}: ${entries} entries${newest}: ${isEqual ? 'equal' : 'DIFFERENT'}`)
    console.log(`  tables  ${live}\n  journal ${rebuilt}`)
  }
  console.log(
    isGood
      ? `${dump} is good: its tables are what its journal folds to.`
      : `${dump} is NOT good: its tables are not what its journal folds to. Keep an older one.`,
  )
}
