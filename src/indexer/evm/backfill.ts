import PQueue from 'p-queue'
import type { DecodedLogs } from '../../chains/evm/decodeLogs.js'
import { probeEntries } from '../../db/journal/append.js'
import { writeTail } from '../../db/journal/tail.js'
import { pipelined } from '../../db/pg/pipeline.js'
import { commitWithoutFlush, inTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import type { DecodedEntry } from '../../registry/journal/decode.js'
import { measure } from '../progress.js'
import { DeepReorgError, isCheckpointReplaced } from './checkpoint.js'
import { fetchRange } from './fetchRange.js'
import type { ChainIndexerOptions, ConfirmedRange } from './types.js'
import type { RangeWidth } from './width.js'
import { decideConfirmed, LIVE_BATCH, lockFor } from './write.js'

/** Ranges fetched ahead of the writer: bounds memory, hides the round trips. */
const RANGES_AHEAD = 3
/** Newest confirmed blocks, whose logs are checked against their headers: one more request per block. */
const CHECKED_BLOCKS = 512
/** Entries per transaction of the first catch-up: nobody else writes, so that the lock may be held longer. */
const CATCH_UP_BATCH = 3_000

export interface BackfillOptions extends ChainIndexerOptions {
  /** The last block to take. */
  to: number
  width: RangeWidth
  isCaughtUp: boolean
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
  const queue = new PQueue({ concurrency: RANGES_AHEAD })
  const ahead: Promise<ConfirmedRange>[] = []
  const first = row.nextBlock
  const startedMs = Date.now()
  let { parentHash } = row
  let asked = first
  let taken = first
  let entries = 0
  while (taken <= to && !signal.aborted) {
    while (ahead.length < RANGES_AHEAD && asked <= to) {
      const from = asked
      const end = Math.min(to, from + width.blocks - 1)
      const range = queue.add(() => fetchRange(source, from, end))
      // awaited below in its turn; until then a failure is not unhandled
      range.catch(() => {})
      ahead.push(range)
      asked = end + 1
    }
    const range = await ahead.shift()!
    if (parentHash && !range.parentHash.equals(parentHash)) {
      if (await isCheckpointReplaced(chain, row))
        throw new DeepReorgError(`block ${row.nextBlock - 1} has been replaced`)
      throw new Error(`getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`)
    }
    await writeRange(run, range)
    parentHash = range.lastHash
    taken = range.to + 1
    entries += range.decoded.entries.length
    const [doneBlocks, totalBlocks] = [row.nextBlock - first, to - first + 1]
    const { network, label } = row
    run.onProgress?.(measure({ network, label, doneBlocks, totalBlocks, registrations: entries }, startedMs))
  }
  return { blocks: row.nextBlock - first, entries }
}

async function writeRange(run: BackfillOptions, range: ConfirmedRange): Promise<void> {
  const limit = run.isCaughtUp ? LIVE_BATCH : CATCH_UP_BATCH
  const { entries, received, sent, payments, credits, ends } = range.decoded
  let start = 0
  let from = range.from
  // cuts after a block's last log, so that the checkpoint always stands between blocks
  while (entries.length - start > limit) {
    const end = endOfBatch(entries, start, limit)
    if (end === entries.length) break
    const block = entries[end - 1]!.position!.block
    const hash = range.hashOfBlock.get(block)!
    await write(run, { logs: cut(entries.slice(start, end), from, block), block, hash })
    start = end
    from = block + 1
  }
  const rest = start === 0 ? entries : entries.slice(start)
  await write(run, { logs: cut(rest, from, range.to), block: range.to, hash: range.lastHash })

  function cut(batch: DecodedEntry[], first: number, last: number): DecodedLogs {
    const isInside = ({ block }: { block: number }) => block >= first && block <= last
    return {
      entries: batch,
      received: received.filter(isInside),
      sent: sent.filter(isInside),
      payments: payments.filter(isInside),
      credits: credits.filter(isInside),
      ends: ends.filter(isInside),
    }
  }
}

function endOfBatch(entries: readonly DecodedEntry[], start: number, limit: number): number {
  let end = start + limit
  const block = entries[end - 1]!.position!.block
  while (end < entries.length && entries[end]!.position!.block === block) end += 1
  return end
}

interface Part {
  logs: DecodedLogs
  /** The part's last block and its hash. */
  block: number
  hash: Buffer
}

async function write(
  { pool, chain, row, epoch, isCaughtUp }: BackfillOptions,
  { logs, block, hash }: Part,
): Promise<void> {
  const to = { nextBlock: block + 1, parentHash: hash }
  failpoint('backfill.before_transaction')
  await inTransaction(pool, async (client) => {
    // A commit without a flush is safe in the first catch-up alone: a crash of the server loses the newest transactions
    // whole, rows and checkpoint together, nobody else has written after them, and the same blocks give the same rows
    // again. The ordinary commit that records the end of the catch-up brings everything before it to disk.
    if (!isCaughtUp) await commitWithoutFlush(client)
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
