import type { ChainRow } from '../../db/journal/chains.js'
import { type Place, type ProvedRange, prove, toldRanges } from '../../proof/prove.js'
import type { RangeSource } from '../../proof/ranges.js'
import { measure, type Progress } from '../progress.js'
import { DeepReorgError, isCheckpointReplaced } from './checkpoint.js'

/** Ranges fetched ahead of the writer: bounds memory, hides the round trips. */
const RANGES_AHEAD = 3

export interface BackfillOptions extends RangeSource {
  row: ChainRow
  /** The last block to take. */
  to: number
  signal: AbortSignal
  /** Place of the checkpoint. */
  place(): Place
  /** Writes a range, and moves row and place behind it. */
  write(range: ProvedRange): Promise<void>
  onProgress(progress: Progress): void
}

/**
 * Takes confirmed blocks up to `to` into the journal: parallel ranges, one ordered writer, the checkpoint in the rows'
 * own transaction. A process that is killed anywhere goes on from the checkpoint.
 * @returns numbers of blocks and entries; fewer blocks than up to `to` when the signal fired
 * @throws ChainUnavailableError, DeepReorgError, LostLeadershipError
 */
export async function backfill(run: BackfillOptions): Promise<{ blocks: number; entries: number }> {
  const { chain, row, width, to, signal } = run
  const ahead: ReturnType<typeof toldRanges>[] = []
  const first = row.nextBlock
  const startedMs = Date.now()
  let asked = first
  let entries = 0
  while (row.nextBlock <= to && !signal.aborted) {
    while (ahead.length < RANGES_AHEAD && asked <= to) {
      const end = Math.min(to, asked + width.blocks - 1)
      const told = toldRanges(run, asked, end)
      // awaited below in its turn; until then a failure is not unhandled
      told.catch(() => {})
      ahead.push(told)
      asked = end + 1
    }
    for (const told of await ahead.shift()!) {
      const place = run.place()
      const range = await prove(chain, place, told)
      if (place.lastHash && !range.parentHash.equals(place.lastHash)) {
        if (await isCheckpointReplaced(chain, row))
          throw new DeepReorgError(`block ${row.nextBlock - 1} has been replaced`)
        throw new Error(`getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`)
      }
      await run.write(range)
      entries += range.decoded.entries.length
    }
    const [doneBlocks, totalBlocks] = [row.nextBlock - first, to - first + 1]
    const { network, label } = row
    run.onProgress(measure({ network, label, doneBlocks, totalBlocks, registrations: entries }, startedMs))
  }
  return { blocks: row.nextBlock - first, entries }
}
