import {
  type DecodedBlock,
  type DecodedLogs,
  decodedLogCount,
  logsOfBlocks,
  mergeDecodedLogs,
} from '../../chains/evm/decodeLogs.js'
import type { ConfirmedLogRange } from '../../chains/evm/runningHash/ranges.js'
import { insertConfirmedCredits } from '../../db/bridge/credits.js'
import { writeMessageReceipts, writeMessages } from '../../db/bridge/messages.js'
import { type ChainCursor, lockChainCursor, moveChainCursor } from '../../db/chains/chains.js'
import { deleteUnconfirmedEntriesBefore, writeUnconfirmedBlocks } from '../../db/chains/tail.js'
import { findRowsOfEntries, foldEntries, writeFoldedBatch } from '../../db/journal/append.js'
import { lockJournalHead } from '../../db/journal/head.js'
import { writePaymentOutcomes, writePayments } from '../../db/payments/payments.js'
import { notifyBlock, notifyNetwork } from '../../db/pg/notify.js'
import { inPipeline, type Queryable } from '../../db/pg/pipeline.js'
import { inPipelinedTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import type { TailChange } from './tail.js'
import type { ChainIndexerOptions } from './types.js'

/**
 * Maximum number of logs that one follow step confirms (one block may have more): signed changes of users wait for the
 * transaction's lock, about 50 ms.
 */
export const MAX_LOGS_PER_FOLLOW = 1_000

/** The first of `blocks`: as many as one transaction may write, but at least one. */
export function firstWritableBlocks(blocks: readonly DecodedBlock[]): readonly DecodedBlock[] {
  let logs = 0
  const end = blocks.findIndex(({ decoded }, i) => {
    logs += decodedLogCount(decoded)
    return i > 0 && logs > MAX_LOGS_PER_FOLLOW
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}

/**
 * Writes the rows of confirmed logs outside the journal, in one pipeline: messages, receipts, credits, payments and
 * their outcomes. Deletes the unconfirmed rows before the new cursor, which are confirmed now or of another fork.
 */
function writeRowsOfConfirmedLogs(
  db: Queryable,
  { row, chain: { role } }: ChainIndexerOptions,
  { to, logs, isKnownEmpty }: { to: ChainCursor; logs: DecodedLogs; isKnownEmpty: boolean },
): Promise<unknown>[] {
  const { network, chain } = row
  const { received, sent, payments, credits, ends } = logs
  const blocks = { isConfirmed: true, block: to.nextBlock, isKnownEmpty }
  return [
    insertConfirmedCredits(db, network, credits),
    role === 'hub'
      ? writeMessageReceipts(db, network, blocks, received)
      : writeMessages(db, row, blocks, sent),
    writePayments(db, row, blocks, payments),
    writePaymentOutcomes(db, row, ends),
    deleteUnconfirmedEntriesBefore(db, network, chain, to.nextBlock, isKnownEmpty),
    ...(decodedLogCount(logs) + received.length > 0 ? [notifyNetwork(db, network)] : []),
  ]
}

interface BlocksToWrite {
  /** Kind of step. The names of the write's fail points begin with this word. */
  at: 'backfill' | 'follow'
  extension: TailChange | null
  minimumWei: bigint
  /** The cursor after the confirmed blocks. Null if no block is confirmed now. */
  to: ChainCursor | null
  /** Logs of the blocks that are confirmed now. */
  confirmed: DecodedLogs
  replaced: RowKindsToReplace
}

/** For each kind of unconfirmed rows: whether the tables may have such rows, so that a write deletes them. */
export interface RowKindsToReplace {
  /** Rows of the blocks that are confirmed now. */
  ofConfirmed: boolean
  /** Rows of blocks from the extension's `dropFrom` on. */
  ofDropped: boolean
}

/** For a write after a restart, a failure or a backfill: the tables may have any unconfirmed rows. */
export const ALL_UNCONFIRMED_ROWS: RowKindsToReplace = { ofConfirmed: true, ofDropped: true }

/**
 * Kinds of unconfirmed rows that a write has to delete.
 * @param stored unconfirmed blocks in the tables; null where they are not known
 * @param kept the first blocks of `stored`, which are still on the chain
 * @param confirmed how many blocks the write confirms: the first ones of `kept`, then of the new blocks
 */
export const rowsToReplace = (
  stored: readonly DecodedBlock[] | null,
  kept: readonly DecodedBlock[],
  confirmed: number,
): RowKindsToReplace =>
  stored
    ? {
        ofConfirmed: kept.slice(0, confirmed).some(hasRows),
        ofDropped: kept.length < stored.length,
      }
    : ALL_UNCONFIRMED_ROWS

const hasRows = ({ decoded: { entries, received, sent, payments } }: DecodedBlock): boolean =>
  entries.length + received.length + sent.length + payments.length > 0

/**
 * Writes in one transaction the confirmed blocks with their cursor, and the new unconfirmed blocks (the tail).
 * @returns the minimum bid in force afterwards, wei
 * @throws LostLeadershipError
 */
export function writeBlocks(options: ChainIndexerOptions, write: BlocksToWrite): Promise<bigint> {
  const { pool, row, epoch, chain } = options
  const { stages } = chain
  const { at, to, confirmed: logs, extension, replaced } = write
  return inPipelinedTransaction(pool, {
    // The rows are read under the journal's lock. The write of a bid as unconfirmed took the same lock, so every signed
    // change that was committed before it is in these rows.
    reads: (db) => [
      lockJournalHead(db, row.network, epoch),
      to ? findRowsOfEntries(db, row.network, logs.entries) : Promise.resolve(undefined),
      to ? lockChainCursor(db, row) : Promise.resolve(),
    ],
    work: async (client, [head, probed], commit) => {
      const undecided = probed && { entries: logs.entries, head, probed, stages }
      const decided = undecided && (await foldEntries(client, row.network, undecided))
      const { minimumWei } = decided?.changes.head ?? write
      failpoint(`${at}.before_commit`)
      const others = (db: Queryable): Promise<unknown>[] => [
        ...(to ? [moveChainCursor(db, row, to)] : []),
        ...(to && decided
          ? writeRowsOfConfirmedLogs(db, options, { to, logs, isKnownEmpty: !replaced.ofConfirmed })
          : []),
        ...(extension
          ? writeNewUnconfirmedBlocks(db, options, { ...write, minimumWei, extension })
          : []),
        notifyBlock(db, row.network),
        commit(db),
      ]
      if (decided) await writeFoldedBatch(client, row.network, decided.changes, others)
      else await inPipeline(client, others)
      return minimumWei
    },
  })
}

/**
 * Writes the new unconfirmed blocks (the tail) and the entries, messages and payments in their logs, in one pipeline.
 */
function writeNewUnconfirmedBlocks(
  db: Queryable,
  { chain: { role, config }, row }: ChainIndexerOptions,
  { at, extension, minimumWei, to, replaced }: BlocksToWrite & { extension: TailChange },
): Promise<void>[] {
  const { network, chain } = row
  const { dropFrom } = extension
  const isTail = ({ block }: { block: number }) => !to || block >= to.nextBlock
  // a block that is confirmed when it is first read gets no unconfirmed entries, but its hash is stored
  const blocks = extension.blocks.map(({ decoded, ...block }) => ({
    ...block,
    entries: isTail(block) ? decoded.entries : [],
  }))
  const isKnownEmpty = !replaced.ofDropped
  const tail = { dropFrom, blocks, minimumWei, isKnownEmpty }
  const written = writeUnconfirmedBlocks(db, network, chain, tail)
  // in a backfill, the next step reads the messages and payments of later blocks
  if (at === 'backfill') return [written]
  const { received, sent, payments } = logsOfBlocks(extension.blocks.filter(isTail))
  const unconfirmed = { isConfirmed: false, block: dropFrom, isKnownEmpty }
  return [
    written,
    role === 'hub'
      ? writeMessageReceipts(db, network, unconfirmed, received)
      : writeMessages(db, row, unconfirmed, sent),
    ...(config.communityPayments ? [writePayments(db, row, unconfirmed, payments)] : []),
  ]
}

/**
 * Tail change that stores a backfilled range's last block, without logs. Its hash is needed if a local chain restarts
 * from an older state, and to find where a rewind has to begin.
 */
export const lastBlockAsTail = ({ to: block, lastHash: hash }: ConfirmedLogRange): TailChange => ({
  dropFrom: block,
  blocks: [
    { block, hash, parentHash: Buffer.alloc(32), timestampMs: 0, decoded: mergeDecodedLogs([]) },
  ],
})
