import {
  type ChainHeads,
  type ConfirmedHead,
  readConfirmedBlock,
  readConfirmedHead,
} from '../../chains/evm/chain.js'
import {
  type DecodedBlock,
  decodedLogCount,
  logsOfBlocks,
  mergeDecodedLogs,
} from '../../chains/evm/decodeLogs.js'
import { type BlockHeader, getBlockHeader } from '../../chains/evm/logs.js'
import { encodeRunningHashes, type RunningHashes } from '../../chains/evm/runningHash/hashes.js'
import {
  type CheckedLogRange,
  hasRunningHashes,
  proveBlocks,
  readLastConfirmedHashes,
  readNewestRunningHashes,
  trustBasisOf,
  trustBasisOfRange,
} from '../../chains/evm/runningHash/prove.js'
import { RangeFetcher } from '../../chains/evm/runningHash/rangeFetcher.js'
import { isCoveredByRunningHash } from '../../chains/evm/runningHash/ranges.js'
import { transientError } from '../../chains/rpc/errors.js'
import {
  type AgreedAnswer,
  isSilenceOfNodes,
  NodesDisagreeError,
  NodesSilentError,
} from '../../chains/rpc/nodes.js'
import { haltChain } from '../../db/chains/chains.js'
import { assertIndexingLeader, markCaughtUp, readJournalHead } from '../../db/journal/head.js'
import { BackgroundWork } from '../../ops/background.js'
import { chainErrorSentence } from '../../ops/causes.js'
import { type ChainState, isHeadStale, type LogTrustBasis } from '../../ops/chainState.js'
import { failpoint } from '../../ops/failpoint.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { BlockTimeEstimator } from '../headClock.js'
import { measureBackfillProgress } from '../progress.js'
import {
  DeepReorgError,
  ensureCursorOnChain,
  HALT_PATIENCE,
  LOCAL_HALT_PATIENCE,
  throwForkBelowCursor,
} from './cursor.js'
import { alarmOfNoQuorumError, findNoQuorumError } from './noQuorum.js'
import { readNewBlocks, type TailChange } from './tail.js'
import { type ChainIndexerOptions, type IndexerStepOutcome, initialChainState } from './types.js'
import {
  ALL_UNCONFIRMED_ROWS,
  firstWritableBlocks,
  lastBlockAsTail,
  type RowKindsToReplace,
  rowsToReplace,
  writeBlocks,
} from './write.js'

/**
 * Largest gap to the head at which blocks are read one by one, and their logs stored before they are confirmed. A
 * larger gap is backfilled in ranges.
 */
export const MAX_BLOCKS_FOLLOWED_SINGLY = 64

/**
 * Maximum number of unproved blocks that one node calls confirmed. Above it no new blocks are read; if nodes stay
 * silent about their hashes, the blocks are dropped.
 */
const MAX_UNPROVED_BLOCKS = 2 * MAX_BLOCKS_FOLLOWED_SINGLY

/**
 * Indexes one chain. Logs of unconfirmed blocks (the tail) are stored apart. Confirmed logs of a hub enter the journal.
 * A spoke's messages are rows of their own table. Every write checks the leader's epoch: each network has one writer.
 */
export class ChainIndexer {
  readonly state: ChainState
  readonly #options: ChainIndexerOptions
  readonly clock = new BlockTimeEstimator()
  readonly #fetcher: RangeFetcher
  /** Pauses a backfill after each range during which API requests arrived. */
  #background = new BackgroundWork()
  /** Minimum bid in force, wei. Null before the first step. */
  #minimumWei: bigint | null = null
  /**
   * Unconfirmed blocks above the cursor, equal to the blocks in the tables. Null if the tables may have other blocks:
   * after a restart, a failed step or a contradiction between nodes, in a backfill, and at `MAX_UNPROVED_BLOCKS`.
   */
  #stored: readonly DecodedBlock[] | null = null
  /** The contracts' running hashes at the cursor. Null before they are verified, and after a failed step. */
  #runningHashes: RunningHashes | null = null
  /** Steps that found the cursor's block replaced since the last successful one (not `behind`), and since when. */
  #doubt: { failures: number; sinceMs: number } | null = null
  /** Why this step could not prove confirmed blocks. The step still writes new blocks. Null if nothing failed. */
  #proofError: Error | null = null
  /**
   * Maximum number of new blocks in one step. A failed step halves the number, since one bad answer fails a whole step.
   */
  #maxBlocks = MAX_BLOCKS_FOLLOWED_SINGLY

  constructor(options: ChainIndexerOptions) {
    this.#options = options
    this.#fetcher = new RangeFetcher(options.chain, () => this.#background.isShared)
    const { row, chain } = options
    this.state = initialChainState(row, chain.stages)
  }

  /**
   * Does the next piece of work towards the chain's head. The caller decides when to call again.
   * @throws ChainUnavailableError, RpcError, LostLeadershipError, or a database error; the next step continues.
   * DeepReorgError until it has repeated often and long enough: then the step halts the chain
   */
  step(): Promise<IndexerStepOutcome> {
    return this.#options.chain.stages.during('node', () => this.#step())
  }

  async #step(): Promise<IndexerStepOutcome> {
    this.#proofError = null
    let outcome: IndexerStepOutcome
    try {
      outcome = await this.#advance()
      if (outcome.kind !== 'behind') this.#doubt = null
      await this.#updateState(outcome)
    } catch (error) {
      if (error instanceof DeepReorgError && this.#isOutOfPatience())
        return this.#halt(
          `${error.message}, which was confirmed: check the chain, then run \`clusterd journal rewind\`, or \`clusterd journal unhalt\` if it has that block again`,
        )
      this.#maxBlocks = Math.max(1, Math.floor(this.#maxBlocks / 2))
      // the database transaction may have been committed, so unconfirmed blocks and cursor are read again
      this.#stored = null
      this.#runningHashes = null
      this.#fetcher.forget()
      return this.#fail(error)
    }
    this.#maxBlocks = Math.min(MAX_BLOCKS_FOLLOWED_SINGLY, 2 * this.#maxBlocks)
    if (this.#proofError) return this.#fail(this.#proofError)
    Object.assign(this.state, { lastError: null, errorAlarm: null })
    return outcome
  }

  #fail(error: unknown): never {
    const errorAlarm = alarmOfNoQuorumError(error)
    const lastError = chainErrorSentence(error)
    Object.assign(this.state, { lastError, errorAlarm, lastStepMs: Date.now() })
    throw error
  }

  /** Counts a check that found the cursor's block replaced. True once indexing of the chain has to halt. */
  #isOutOfPatience(): boolean {
    const { chain, haltPatience = chain.config.local ? LOCAL_HALT_PATIENCE : HALT_PATIENCE } =
      this.#options
    this.#doubt ??= { failures: 0, sinceMs: performance.now() }
    this.#doubt.failures += 1
    return (
      this.#doubt.failures >= haltPatience.failures &&
      performance.now() - this.#doubt.sinceMs >= haltPatience.ms
    )
  }

  async #advance(): Promise<IndexerStepOutcome> {
    const { pool, chain, row, epoch } = this.#options
    const { state } = this
    state.halted = row.halted
    if (row.halted) {
      // a rewind or `unhalt` ends this leader's term, and the next leader finds the chain repaired
      await this.#inDatabase(() => assertIndexingLeader(pool, row.network, epoch))
      return { kind: 'halted', reason: row.halted }
    }
    if (this.#minimumWei === null) {
      const head = await this.#inDatabase(() => readJournalHead(pool, row.network))
      this.#minimumWei = head.minimumWei
      state.isCaughtUp = head.caughtUp
    }
    const heads = await chain.heads()
    const { latest, confirmed: reported } = heads
    const agreed = await this.#confirmedBy(heads).catch((error: unknown) => {
      if (!findNoQuorumError(error)) throw error
      this.#proofError = error as Error
      return this.#confirmedBefore(heads)
    })
    const { confirmed, confirmedMs } = agreed
    this.clock.see(latest)
    const { blockMs } = this.clock
    Object.assign(state, { latest: latest.number, confirmed, confirmedMs, blockMs })
    if (!state.isCaughtUp) state.headMs = latest.timestampMs
    if (latest.number < row.nextBlock - 1) return { kind: 'behind', latest: latest.number }
    if (!this.#runningHashes) {
      await ensureCursorOnChain(pool, chain, row, epoch)
      const { runningHashes, trustBasis } = await readLastConfirmedHashes(chain, row)
      const alive = () => this.#showProgress(row.nextBlock, confirmed, 0, Date.now())
      this.#runningHashes =
        runningHashes ?? (await this.#fetcher.hashesFromStart(row, latest, alive))
      if (trustBasis && state.trust === null) this.#showTrust(trustBasis)
    }
    const isFar =
      latest.number - this.#tailBlock > MAX_BLOCKS_FOLLOWED_SINGLY && confirmed >= row.nextBlock
    const isReadByHash = isFar && (await this.#hasReadByHash(confirmed))
    // another node may have more blocks than the node that returned the newest block
    if (isFar && !isReadByHash) return this.#backfill(Math.min(confirmed, latest.number), latest)
    const unprovedCount = this.#tail.filter(({ block }) => block <= reported).length
    const readsNoNewBlocks = isFar || unprovedCount >= MAX_UNPROVED_BLOCKS
    return this.#follow(latest, agreed, readsNoNewBlocks)
  }

  /**
   * True if no running hash covers the chain's logs, and the blocks that are confirmed now were read by their hashes
   * and are still on the chain. A range that is read by number may silently leave out their logs.
   */
  async #hasReadByHash(confirmed: number): Promise<boolean> {
    const { chain } = this.#options
    const last = this.#tail.findLast(({ block }) => block <= confirmed)
    if (!last || isCoveredByRunningHash(chain)) return false
    const header = await chain.rpc.onOneNode((call) => getBlockHeader(call, last.block))
    return header?.hash === toHex(last.hash)
  }

  #showTrust({ trust, nodes }: LogTrustBasis): void {
    Object.assign(this.state, { trust, trustNodes: nodes })
  }

  /**
   * Writes confirmed blocks up to `to` into the journal: reads ranges in parallel, writes them in order, and moves the
   * cursor in the same transaction. A process that is killed anywhere continues from the cursor. The abort
   * signal ends the backfill early.
   */
  async #backfill(to: number, latest: BlockHeader): Promise<IndexerStepOutcome> {
    const { chain, row, signal } = this.#options
    const first = row.nextBlock
    const startedMs = Date.now()
    let entries = 0
    let foldedFrom = -1
    this.#stored = null
    this.#background = new BackgroundWork()
    const show = () => this.#showProgress(first, to, entries, startedMs)
    while (row.nextBlock <= to && !signal.aborted) {
      for await (const fetched of this.#fetcher.ranges(this.#runningHashes!, row.nextBlock, to)) {
        if (signal.aborted) break
        const { to: last, parentHash, runningHashes } = fetched.answer
        if (row.parentHash && !parentHash.equals(row.parentHash))
          await throwForkBelowCursor(chain, row)
        if (!runningHashes && hasRunningHashes(chain)) {
          if (foldedFrom === row.nextBlock)
            throw transientError(`the contracts' running hashes of block ${last} are not known`)
          foldedFrom = row.nextBlock
          const { nextBlock: from, parentHash: before } = row
          const blocks = { from, parentHash: before, confirmed: to, latest }
          await this.#fetcher.foldAhead(this.#runningHashes!, blocks, show)
          break
        }
        await this.#write(
          'backfill',
          [fetched],
          lastBlockAsTail(fetched.answer),
          ALL_UNCONFIRMED_ROWS,
        )
        entries += fetched.answer.decoded.entries.length
        show()
        await this.#background.pause(signal)
      }
    }
    return { kind: 'backfilled', blocks: row.nextBlock - first, entries }
  }

  /** Reports the progress of a step that may take hours. The report restarts the step's time limit. */
  #showProgress(first: number, to: number, registrations: number, startedMs: number): void {
    const { row, onProgress } = this.#options
    const { network, label, nextBlock } = row
    Object.assign(this.state, { nextBlock, tailBlock: nextBlock - 1, lastStepMs: Date.now() })
    const counts = { doneBlocks: nextBlock - first, totalBlocks: to - first + 1, registrations }
    onProgress?.(measureBackfillProgress({ network, label, ...counts }, startedMs))
  }

  /** The highest block that two nodes (or the only node) report as confirmed. Asks all once one has a new block. */
  async #confirmedBy(first: ChainHeads): Promise<ConfirmedHead> {
    const { chain, row } = this.#options
    if (first.confirmed < row.nextBlock) return this.#confirmedBefore(first)
    return readConfirmedBlock(chain, first)
  }

  /** The last block that counted as confirmed in earlier steps. A confirmed block never becomes unconfirmed. */
  #confirmedBefore(first: ConfirmedHead): ConfirmedHead {
    const { nextBlock, parentHash } = this.#options.row
    const confirmed = parentHash ? nextBlock - 1 : Math.min(first.confirmed, nextBlock - 1)
    const confirmedMs = this.state.confirmedMs ?? first.confirmedMs
    return { ...first, confirmed, confirmedHash: null, confirmedMs }
  }

  async #follow(
    latest: BlockHeader,
    agreed: ConfirmedHead,
    readsNoNewBlocks: boolean,
  ): Promise<IndexerStepOutcome> {
    const { chain, row } = this.#options
    const before = this.#tail
    const { confirmed: confirmedBlock } = agreed
    this.#prefetchRunningHashes(latest, confirmedBlock)
    const known = { chain, row, tail: before }
    const extension = readsNoNewBlocks ? null : await readNewBlocks(known, latest, this.#maxBlocks)
    const kept = extension ? before.filter(({ block }) => block < extension.dropFrom) : before
    const tail = extension ? [...kept, ...extension.blocks] : before
    let confirming = firstWritableBlocks(tail.filter(({ block }) => block <= confirmedBlock))
    if (!extension && confirming.length === 0)
      return latest.number < this.#tailBlock
        ? { kind: 'behind', latest: latest.number }
        : { kind: 'idle' }
    let proved: AgreedAnswer<CheckedLogRange>[] = []
    try {
      proved = await proveBlocks(chain, row, {
        blocks: confirming,
        tail,
        before: this.#runningHashes!,
        hashesAt: this.#fetcher.hashesAt,
        agreed,
      })
    } catch (error) {
      // nodes may have only the newest block's state: the confirmed blocks are proved once the tail reaches that block
      const isProvedLater =
        isSilenceOfNodes(error) && extension !== null && tail.at(-1)!.block < latest.number
      // until nodes agree, new blocks are shown as unconfirmed
      if (!isProvedLater && !findNoQuorumError(error)) throw error
      if (!isProvedLater) this.#proofError = error as Error
      confirming = []
    }
    const replaced = rowsToReplace(this.#stored, kept, confirming.length)
    if (extension || proved.length > 0) await this.#write('follow', proved, extension, replaced)
    // if nodes contradict each other about a block, one may have invented it: all unconfirmed blocks are read again
    const why = this.#proofError && findNoQuorumError(this.#proofError)
    // if there are too many unproved blocks, and nodes no longer return their running hashes, the blocks are dropped
    // too: a catch-up reads them again and proves them by the running hashes at the newest block
    const isPast = readsNoNewBlocks && why instanceof NodesSilentError
    const isDropped = isPast || why instanceof NodesDisagreeError
    this.#stored = isDropped ? null : tail.slice(confirming.length)
    return {
      kind: 'followed',
      blocks: extension?.blocks.length ?? 0,
      facts: decodedLogCount(logsOfBlocks(extension?.blocks ?? [])),
      confirmedBlocks: confirming.length,
      confirmedFacts: decodedLogCount(logsOfBlocks(confirming)),
      entries: logsOfBlocks(confirming).entries.length,
      dropped: before.length - kept.length,
    }
  }

  /** Requests a confirmed block's running hashes early, while logs are still read. Does nothing after a failed step. */
  #prefetchRunningHashes(latest: BlockHeader, confirmed: number): void {
    const { chain, row } = this.#options
    if (confirmed < row.nextBlock || !hasRunningHashes(chain) || this.state.lastError) return
    const hash =
      confirmed === latest.number
        ? fromHex(latest.hash)
        : this.#tail[confirmed - row.nextBlock]?.hash
    if (hash) void this.#fetcher.hashesAt(confirmed, hash)
  }

  #inDatabase<T>(part: () => Promise<T>): Promise<T> {
    return this.#options.chain.stages.during('database', part)
  }

  /** Writes proved logs with the next cursor, and the unconfirmed blocks that follow it. */
  async #write(
    at: 'backfill' | 'follow',
    proved: readonly AgreedAnswer<CheckedLogRange>[],
    extension: TailChange | null,
    replaced: RowKindsToReplace,
  ): Promise<void> {
    const { chain, row } = this.#options
    const trust = proved.map((range) => trustBasisOfRange(chain, range)).at(-1)
    const last = proved.at(-1)?.answer
    const hashes = last?.runningHashes?.answer ?? []
    const to = last
      ? {
          nextBlock: last.to + 1,
          parentHash: last.lastHash,
          record: hasRunningHashes(chain)
            ? encodeRunningHashes(chain.config, last.lastHash, hashes)
            : null,
        }
      : null
    const confirmed = mergeDecodedLogs(proved.map(({ answer }) => answer.decoded))
    failpoint(`${at}.before_transaction`)
    const write = { at, extension, minimumWei: this.#minimumWei!, to, confirmed, replaced }
    this.#minimumWei = await this.#inDatabase(() => writeBlocks(this.#options, write))
    if (trust) {
      Object.assign(row, to)
      this.#runningHashes = hashes
      this.#showTrust(trust)
    }
    failpoint(`${at}.after_commit`)
  }

  get #tail(): readonly DecodedBlock[] {
    return this.#stored ?? []
  }

  get isAtHead(): boolean {
    const { latest, confirmed } = this.state
    return this.#tailBlock === latest && this.#options.row.nextBlock > (confirmed ?? -1)
  }

  get #tailBlock(): number {
    return this.#options.row.nextBlock + this.#tail.length - 1
  }

  async #updateState({ kind }: IndexerStepOutcome): Promise<void> {
    const { pool, chain, row, epoch } = this.#options
    const { state } = this
    state.nextBlock = row.nextBlock
    state.tailBlock = this.#tailBlock
    state.lastStepMs = Date.now()
    // an old head time stops quotes, so the time advances only while confirmed blocks can be proved
    if (!this.#proofError && this.clock.headMs !== null) state.headMs = this.clock.headMs
    // only a later step at the chain's head can end the catch-up: a backfill may have taken hours, so its head is old
    const isFollowing = kind === 'followed' || kind === 'idle'
    if (state.isCaughtUp || this.#proofError || !isFollowing || !(await this.#hasCaughtUp())) return
    // only the hub ends the network's catch-up: a spoke that is added later does not begin another catch-up
    if (chain.role === 'hub') await this.#inDatabase(() => markCaughtUp(pool, row.network, epoch))
    state.isCaughtUp = true
  }

  /** True if all confirmed blocks are indexed and trusted on some basis, and enough nodes show about the same head. */
  async #hasCaughtUp(): Promise<boolean> {
    const { chain, row } = this.#options
    const { confirmed } = this.state
    if (confirmed === null || confirmed < chain.config.startBlock || row.nextBlock <= confirmed)
      return false
    // a node that is still syncing shows an old head
    if (!chain.config.local && isHeadStale(this.state, Date.now())) return false
    if (hasRunningHashes(chain) && this.state.trust === null) {
      const known = { tail: this.#tail, before: this.#runningHashes! }
      const { nodes } = await readNewestRunningHashes(chain, row, known)
      this.#showTrust(trustBasisOf(chain, nodes))
    }
    if (this.state.trust === null) return false
    const heads = await chain.rpc.onEveryNode((call) => readConfirmedHead(call, chain.config), 2)
    const isNear = (head: ConfirmedHead) =>
      row.nextBlock > head.confirmed - MAX_BLOCKS_FOLLOWED_SINGLY
    // one node may report any height
    return heads.filter(isNear).length >= chain.rpc.needed
  }

  async #halt(reason: string): Promise<IndexerStepOutcome> {
    const { pool, row, epoch } = this.#options
    await this.#inDatabase(() => haltChain(pool, row, epoch, reason))
    row.halted = reason
    this.state.halted = reason
    return { kind: 'halted', reason }
  }
}
