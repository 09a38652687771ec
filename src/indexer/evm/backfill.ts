import PQueue from 'p-queue'
import type pg from 'pg'
import type { DecodedLogs } from '../../chains/evm/decodeLogs.js'
import { type Ahead, type Appended, foldAhead, MovedHeadError, writeAhead } from '../../db/journal/append.js'
import { createWrittenKeys, type WrittenKeys } from '../../db/journal/keyFilter.js'
import { writeTail } from '../../db/journal/tail.js'
import { pipelined } from '../../db/pg/pipeline.js'
import { commitWithoutFlush, inTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import type { DecodedEntry } from '../../registry/journal/decode.js'
import { measure } from '../progress.js'
import { DeepReorgError, isCheckpointReplaced } from './checkpoint.js'
import { fetchRange } from './fetchRange.js'
import { fillGaps } from './fillGaps.js'
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
 * own transaction, while the next batch is folded. A process that is killed anywhere goes on from the checkpoint.
 * @returns numbers of blocks and entries; fewer blocks than up to `to` when the signal fired
 * @throws ChainUnavailableError, DeepReorgError, LostLeadershipError
 */
export async function backfill(options: BackfillOptions): Promise<{ blocks: number; entries: number }> {
  const written = options.isCaughtUp ? undefined : createWrittenKeys()
  const none = Promise.resolve(null)
  const run: Run = { ...options, written, before: null, writing: none, earlier: none, hasMoved: false }
  try {
    return await takeRanges(run)
  } finally {
    // nobody moves the checkpoint behind the caller's back
    await run.writing.catch(() => {})
  }
}

/** A backfill under way. */
interface Run extends BackfillOptions {
  /** Keys that it has written, which spare look-ups during the first catch-up. */
  written: WrittenKeys | undefined
  /** The newest batch that was folded; null before the first. */
  before: Appended | null
  /** The newest write, and the one before it; of null before the first. */
  writing: Promise<Appended | null>
  earlier: Promise<Appended | null>
  /** Whether a part was folded anew, on which later ones don't build. */
  hasMoved: boolean
}

async function takeRanges(run: Run): Promise<{ blocks: number; entries: number }> {
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
      await run.writing
      if (await isCheckpointReplaced(chain, row))
        throw new DeepReorgError(`block ${row.nextBlock - 1} has been replaced`)
      throw new Error(`getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`)
    }
    // counts go on from what is stored
    if (range.decoded.sent.length + range.decoded.payments.length > 0) await run.writing
    range.decoded = await fillGaps(run, range.decoded)
    await writeRange(run, range)
    parentHash = range.lastHash
    taken = range.to + 1
    entries += range.decoded.entries.length
    const [doneBlocks, totalBlocks] = [row.nextBlock - first, to - first + 1]
    const { network, label } = row
    run.onProgress?.(measure({ network, label, doneBlocks, totalBlocks, registrations: entries }, startedMs))
  }
  await run.writing
  return { blocks: row.nextBlock - first, entries }
}

async function writeRange(run: Run, range: ConfirmedRange): Promise<void> {
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
    await commit(run, { logs: cut(entries.slice(start, end), from, block), block, hash })
    start = end
    from = block + 1
  }
  const rest = start === 0 ? entries : entries.slice(start)
  await commit(run, { logs: cut(rest, from, range.to), block: range.to, hash: range.lastHash })

  function cut(batch: DecodedEntry[], first: number, last: number): DecodedLogs {
    // messages and payments that nodes left out of earlier blocks come with the range's first part
    const isInside = ({ block }: { block: number }) => (block >= first || first === range.from) && block <= last
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

/**
 * Folds a part while the one before it is written, and begins to write its rows: two transactions at most are open, and
 * end in their order.
 */
async function commit(run: Run, part: Part): Promise<void> {
  const { pool, row, written, isCaughtUp } = run
  const batch = { network: row.network, entries: part.logs.entries, written }
  // what was written before the last part is committed now
  await run.earlier
  if (run.hasMoved) {
    await run.writing
    Object.assign(run, { before: null, hasMoved: false })
  }
  const { before } = run
  // signed changes, which begin with the end of the first catch-up, would wait for rows that wait for their turn
  const ahead = before && !isCaughtUp ? await foldAhead(pool, before, batch) : null
  run.earlier = run.writing
  let onSent = () => {}
  const sent = new Promise<void>((resolve) => {
    onSent = resolve
  })
  const writing = ahead ? writeBeforeTurn(run, part, { ahead, onSent }) : writeInTurn(run, part)
  run.writing = writing
  // thrown where it is awaited next
  writing.catch(() => {})
  run.before = ahead ?? (await writing)
  // the next part is folded while the server has something to do
  await Promise.race([sent, writing])
}

/** Writes a part's rows at once, and the rest in its turn; where another writer came between, all of it anew. */
async function writeBeforeTurn(
  run: Run,
  part: Part,
  { ahead, onSent }: { ahead: Ahead; onSent(): void },
): Promise<Appended> {
  const previous = run.writing
  try {
    return await write(run, part, async (client) => {
      await writeAhead(client, run.row.network, ahead, onSent)
      if ((await previous)?.changes.head !== ahead.base) throw new MovedHeadError('the part before was folded anew')
      return ahead
    })
  } catch (error) {
    await previous
    if (!(error instanceof MovedHeadError)) throw error
    run.hasMoved = true
    return write(run, part)
  }
}

async function writeInTurn(run: Run, part: Part): Promise<Appended> {
  await run.writing
  return write(run, part)
}

/** @param writeRows writes the part's rows ahead of its turn, and waits for it; left out in its turn */
async function write(
  run: Run,
  { logs, block, hash }: Part,
  writeRows?: (client: pg.ClientBase) => Promise<Ahead>,
): Promise<Appended> {
  const { pool, chain, row, epoch, isCaughtUp, written } = run
  const to = { nextBlock: block + 1, parentHash: hash }
  failpoint('backfill.before_transaction')
  const appended = await inTransaction(pool, async (client) => {
    // A commit without a flush is safe in the first catch-up alone: a crash of the server loses the newest transactions
    // whole, rows and checkpoint together, nobody else has written after them, and the same blocks give the same rows
    // again. The ordinary commit that records the end of the catch-up brings everything before it to disk.
    if (!isCaughtUp) await commitWithoutFlush(client)
    const ahead = (await writeRows?.(client)) ?? null
    const confirmed = { row, role: chain.role, epoch, logs, to, written, ahead }
    const [head] = await pipelined(client, (db) => [lockFor(db, confirmed)])
    const decided = await decideConfirmed(client, head, confirmed)
    const { changes, writerMs } = decided
    // the hash stays known for a while: a local chain may come back from an older state
    const checkpointBlock = { block, hash, parentHash: Buffer.alloc(32), timestampMs: 0, entries: [] }
    const tail = { dropFrom: block, blocks: [checkpointBlock], minimumWei: changes.head.minimumWei }
    await pipelined(client, (db) => [...decided.write(db), writeTail(db, row.network, row.chain, tail)])
    failpoint('backfill.before_commit')
    // not its statements, which hold the logs
    return { changes, writerMs }
  })
  Object.assign(row, to)
  failpoint('backfill.after_commit')
  return appended
}
