import { probeEntries } from '../../db/journal/append.js'
import { writeTail } from '../../db/journal/tail.js'
import { pipelined } from '../../db/pg/pipeline.js'
import { inTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import { measure } from '../progress.js'
import { DeepReorgError, isCheckpointReplaced } from './checkpoint.js'
import { fetchRange } from './fetchRange.js'
import type { ChainIndexerOptions, ConfirmedRange } from './types.js'
import type { RangeWidth } from './width.js'
import { decideConfirmed, lockFor } from './write.js'

/** Ranges fetched ahead of the writer: bounds memory, hides the round trips. */
const RANGES_AHEAD = 3
/** Newest confirmed blocks, whose logs are checked against their headers: one more request per block. */
const CHECKED_BLOCKS = 512

export interface BackfillOptions extends ChainIndexerOptions {
  /** The last block to take. */
  to: number
  width: RangeWidth
}

/**
 * Takes confirmed blocks up to `to` into the journal: parallel ranges, one ordered writer, the checkpoint in the rows'
 * own transaction. A process that is killed anywhere goes on from the checkpoint.
 * @returns numbers of blocks and entries; fewer blocks than up to `to` when the signal fired
 * @throws ChainUnavailableError, DeepReorgError, LostLeadershipError
 */
export async function backfill(run: BackfillOptions): Promise<{ blocks: number; entries: number }> {
  const { chain, row, width, to, signal } = run
  const source = { chain, width, checkFrom: to - CHECKED_BLOCKS + 1 }
  const ahead: Promise<ConfirmedRange[]>[] = []
  const first = row.nextBlock
  const startedMs = Date.now()
  let { parentHash } = row
  let asked = first
  let entries = 0
  while (row.nextBlock <= to && !signal.aborted) {
    while (ahead.length < RANGES_AHEAD && asked <= to) {
      const end = Math.min(to, asked + width.blocks - 1)
      const ranges = fetchRange(source, asked, end)
      // awaited below in its turn; until then a failure is not unhandled
      ranges.catch(() => {})
      ahead.push(ranges)
      asked = end + 1
    }
    for (const range of await ahead.shift()!) {
      if (parentHash && !range.parentHash.equals(parentHash)) {
        if (await isCheckpointReplaced(chain, row))
          throw new DeepReorgError(`block ${row.nextBlock - 1} has been replaced`)
        throw new Error(`getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`)
      }
      await write(run, range)
      parentHash = range.lastHash
      entries += range.decoded.entries.length
    }
    const [doneBlocks, totalBlocks] = [row.nextBlock - first, to - first + 1]
    const { network, label } = row
    run.onProgress?.(measure({ network, label, doneBlocks, totalBlocks, registrations: entries }, startedMs))
  }
  return { blocks: row.nextBlock - first, entries }
}

async function write(
  { pool, chain, row, epoch }: BackfillOptions,
  { decoded: logs, to: block, lastHash: hash }: ConfirmedRange,
): Promise<void> {
  const to = { nextBlock: block + 1, parentHash: hash }
  failpoint('backfill.before_transaction')
  await inTransaction(pool, async (client) => {
    const confirmed = { row, role: chain.role, epoch, logs, to }
    const [head, probed] = await pipelined(client, (db) => [
      lockFor(db, confirmed),
      probeEntries(db, row.network, logs.entries),
    ])
    const decided = await decideConfirmed(client, head, { ...confirmed, probed })
    // the hash stays known for a while: a local chain may come back from an older state
    const checkpointBlock = { block, hash, parentHash: Buffer.alloc(32), timestampMs: 0, entries: [] }
    const tail = { dropFrom: block, blocks: [checkpointBlock], minimumWei: decided.changes.head.minimumWei }
    await pipelined(client, (db) => [...decided.write(db), writeTail(db, row.network, row.chain, tail)])
    failpoint('backfill.before_commit')
  })
  Object.assign(row, to)
  failpoint('backfill.after_commit')
}
