import PQueue from 'p-queue'
import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import type { DecodedLogs } from '../../chains/evm/decodeLogs.js'
import type { ChainRow } from '../../db/chains.js'
import { createWrittenKeys, type WrittenKeys } from '../../db/journal/keyFilter.js'
import { writeTail } from '../../db/journal/tail.js'
import { commitWithoutFlush, inTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import { firstClusterIds, keysOf } from '../../registry/fold/index.js'
import type { Entry } from '../../registry/journal/entry.js'
import type { Network } from '../../registry/primitives/network.js'
import { DeepReorgError, isCheckpointReplaced } from './checkpoint.js'
import { fetchRange } from './fetchRange.js'
import type { MessageOrder } from './messageOrder.js'
import type { ConfirmedRange, Progress } from './types.js'
import type { RangeWidth } from './width.js'
import { writeConfirmed } from './write.js'

/** Ranges fetched ahead of the writer: bounds memory, hides the round trips. */
const RANGES_AHEAD = 3
/** The newest confirmed blocks, whose logs are held against their headers: one more question a block. */
const CHECKED_BLOCKS = 512
/** During the first catch-up nobody else writes, so the lock may be held longer. */
const CATCH_UP_BATCH = 5_000
/** About 50 ms under the lock: signed changes never wait longer. */
const LIVE_BATCH = 1_000

export interface BackfillOptions {
  pool: pg.Pool
  chain: EvmChain
  /** The chain's row; its checkpoint is moved in place after each commit. */
  row: ChainRow
  epoch: number
  to: number
  width: RangeWidth
  /** Of a spoke. */
  order: MessageOrder
  isCaughtUp: boolean
  signal: AbortSignal
  onProgress?: (progress: Progress) => void
}

/**
 * Takes confirmed blocks up to `to` into the journal: parallel ranges, one ordered writer, the checkpoint in the rows' own
 * transaction. Killed anywhere, it goes on from the checkpoint.
 * @returns blocks and entries taken; fewer than asked when the signal fired
 * @throws ChainUnavailableError, DeepReorgError, LostLeadershipError
 */
export async function backfill(options: BackfillOptions): Promise<{ blocks: number; entries: number }> {
  const { chain, row, width, to, signal } = options
  const source = { chain, width, checkFrom: to - CHECKED_BLOCKS + 1 }
  const queue = new PQueue({ concurrency: RANGES_AHEAD })
  const ahead: Promise<PreparedRange>[] = []
  const first = row.nextBlock
  const run: Run = options.isCaughtUp ? options : { ...options, written: createWrittenKeys() }
  const startedMs = Date.now()
  let asked = first
  let entries = 0
  while (row.nextBlock <= to && !signal.aborted) {
    while (ahead.length < RANGES_AHEAD && asked <= to) {
      const from = asked
      const end = Math.min(to, from + width.blocks - 1)
      const range = queue.add(async () => prepare(row.network, await fetchRange(source, from, end)))
      // it is awaited below in its turn; until then its failure is not unhandled
      range.catch(() => {})
      ahead.push(range)
      asked = end + 1
    }
    const range = await ahead.shift()!
    if (row.parentHash && !range.parentHash.equals(row.parentHash)) {
      if (await isCheckpointReplaced(chain, row))
        throw new DeepReorgError(`block ${row.nextBlock - 1} has been replaced`)
      throw new Error(`getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`)
    }
    range.decoded.sent = await options.order.complete(range.decoded.sent)
    await writeRange(run, range)
    options.order.taken(range.decoded.sent)
    entries += range.decoded.entries.length
    options.onProgress?.(progressOf(options, first, entries, startedMs))
  }
  return { blocks: row.nextBlock - first, entries }
}

/** A backfill that remembers what it has written, while that spares it looking for keys. */
interface Run extends BackfillOptions {
  written?: WrittenKeys
}

/** A range with what can be worked out before its turn to be written. */
interface PreparedRange extends ConfirmedRange {
  firstIds: ReadonlyMap<string, Buffer>
}

const prepare = (network: Network, range: ConfirmedRange): PreparedRange => ({
  ...range,
  firstIds: firstClusterIds(network, keysOf(range.decoded.entries)),
})

async function writeRange(options: Run, range: PreparedRange): Promise<void> {
  const limit = options.isCaughtUp ? LIVE_BATCH : CATCH_UP_BATCH
  const { entries, received, sent, payments } = range.decoded
  let start = 0
  let from = range.from
  // cut behind a block's last log, so that the checkpoint always stands between blocks
  while (entries.length - start > limit) {
    const end = endOfBatch(entries, start, limit)
    if (end === entries.length) break
    const block = entries[end - 1]!.position!.block
    const hash = range.hashOfBlock.get(block)
    // a block with a configured entry alone has no known hash: take it along with the next
    if (!hash) break
    await commit(options, range, cut(entries.slice(start, end), from, block), block, hash)
    start = end
    from = block + 1
  }
  const rest = start === 0 ? entries : entries.slice(start)
  await commit(options, range, cut(rest, from, range.to), range.to, range.lastHash)

  function cut(batch: Entry[], first: number, last: number): DecodedLogs {
    // messages that were left out of earlier blocks come with the range's first part
    const isInside = ({ block }: { block: number }) => (block >= first || first === range.from) && block <= last
    return {
      entries: batch,
      received: received.filter(isInside),
      sent: sent.filter(isInside),
      payments: payments.filter(isInside),
    }
  }
}

function endOfBatch(entries: readonly Entry[], start: number, limit: number): number {
  let end = start + limit
  const block = entries[end - 1]!.position!.block
  while (end < entries.length && entries[end]!.position!.block === block) end += 1
  return end
}

async function commit(
  options: Run,
  { firstIds }: PreparedRange,
  decoded: DecodedLogs,
  block: number,
  hash: Buffer,
): Promise<void> {
  const { pool, row, epoch } = options
  const { network, chain } = row
  failpoint('backfill.before_transaction')
  await inTransaction(pool, async (client) => {
    // Not waiting for the disk is safe in the first catch-up alone: a crash of the server loses the newest transactions
    // whole, rows and checkpoint together, nobody else has written behind them, and the same blocks give the same rows
    // again. The end of the catch-up is recorded by an ordinary commit, which brings everything before it to disk.
    if (!options.isCaughtUp) await commitWithoutFlush(client)
    const minimumWei = await writeConfirmed(
      client,
      row,
      epoch,
      decoded,
      { nextBlock: block + 1, parentHash: hash },
      options.written ? { firstIds, written: options.written } : { firstIds },
    )
    // the hash stays known for a while: a local chain may come back from an older state
    const checkpointBlock = { block, hash, parentHash: Buffer.alloc(32), timestampMs: 0, entries: [] }
    await writeTail(client, network, chain, { dropFrom: block, blocks: [checkpointBlock], minimumWei })
    failpoint('backfill.before_commit')
  })
  row.nextBlock = block + 1
  row.parentHash = hash
  failpoint('backfill.after_commit')
}

function progressOf({ row, to }: BackfillOptions, first: number, registrations: number, startedMs: number): Progress {
  const seconds = Math.max(0.001, (Date.now() - startedMs) / 1_000)
  const doneBlocks = row.nextBlock - first
  return {
    network: row.network,
    label: row.label,
    doneBlocks,
    totalBlocks: to - first + 1,
    registrations,
    registrationsPerS: Math.round(registrations / seconds),
    secondsLeft: doneBlocks > 0 ? Math.round(((to + 1 - row.nextBlock) * seconds) / doneBlocks) : null,
  }
}
