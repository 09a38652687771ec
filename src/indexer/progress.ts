import type { ChainState } from '../ops/chainState.js'
import type { Logger } from '../ops/logger/logger.js'
import type { Network } from '../registry/primitives/network.js'

const LOG_EVERY_MS = 2_000

/** Progress of a backfill. */
export interface BackfillProgress {
  network: Network
  label: string
  /** Unit of `doneBlocks` and `totalBlocks`. Default: blocks. */
  unit?: 'blocks' | 'transactions'
  doneBlocks: number
  totalBlocks: number
  registrations: number
  registrationsPerS: number
  /** Null until the first blocks are done. */
  secondsLeft: number | null
}

/** Adds rate and remaining time to a backfill's counts. @param startedMs time at which the backfill started, Unix ms */
export function measureBackfillProgress(
  done: Omit<BackfillProgress, 'registrationsPerS' | 'secondsLeft'>,
  startedMs: number,
): BackfillProgress {
  const { doneBlocks, totalBlocks, registrations } = done
  const seconds = Math.max(0.001, (Date.now() - startedMs) / 1_000)
  return {
    ...done,
    registrationsPerS: Math.round(registrations / seconds),
    secondsLeft:
      doneBlocks > 0 ? Math.round(((totalBlocks - doneBlocks) * seconds) / doneBlocks) : null,
  }
}

/** Creates a progress log for backfills of more than one block: a line every two seconds, and one at the end. */
export function createBackfillProgressLog(log: Logger): (now: BackfillProgress) => void {
  let loggedMs = 0
  return (now) => {
    const isDone = now.doneBlocks >= now.totalBlocks
    if (now.totalBlocks <= 1 || (!isDone && Date.now() - loggedMs < LOG_EVERY_MS)) return
    loggedMs = Date.now()
    log.info(now, 'backfilling')
  }
}

/** Callbacks of the workers that read chains. */
export interface IndexerCallbacks {
  /** Called when a worker is created, so that this process can report the state of the worker's chain. */
  onStart(label: string, indexer: { readonly state: ChainState }): void
  /** Called after a step that read new blocks. @param isNews true if entries, messages or payments may have changed */
  onAdvance(isNews: boolean): void
  onProgress(progress: BackfillProgress): void
}
