import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { fromHex, toHex } from '../../../registry/primitives/bytes.js'
import { RefutedAnswerError, transientError } from '../../rpc/errors.js'
import type { AgreedAnswer } from '../../rpc/nodes.js'
import type { EvmChain } from '../chain.js'
import { type BlockHeader, requireBlockHeader } from '../logs.js'
import { initialRunningHashes, type RunningHashes } from './hashes.js'
import {
  type CheckedLogRange,
  checkedLogRangeSource,
  type RunningHashReader,
  readAgreedRunningHashes,
  readAgreedRunningHashesOrNull,
  runningHashesAfterLogs,
  runningHashMismatchText,
  type StoredCursor,
} from './prove.js'
import {
  isCoveredByRunningHash,
  logRangeSource,
  readBlocksInRanges,
  readRangesAhead,
} from './ranges.js'
import { createLogRangeWidth, type LogRangeWidth } from './width.js'

/** Number of cached running hashes: more than the ranges that are read in parallel, far fewer than those of a catch-up. */
const MAX_CACHED_HASHES = 64

type FoldedHashes = Map<number, { hash: Buffer; runningHashes: AgreedAnswer<RunningHashes> }>

/** Fetches a chain's confirmed logs for the backfill, with the contracts' running hashes that prove them. */
export class RangeFetcher {
  readonly #chain: EvmChain
  readonly #width: LogRangeWidth
  /**
   * Running hashes at the last blocks of later ranges, by block number, each with the block's hash. `foldAhead`
   * calculated them from the logs, because the nodes have pruned the state of these blocks.
   */
  #foldedHashes: FoldedHashes = new Map()
  readonly #answersByBlockHash = new LRUCache<string, ReturnType<RunningHashReader>>({
    max: MAX_CACHED_HASHES,
  })
  /** False after a `foldAhead` that failed: block timestamps in the logs may be wrong, so headers are read. */
  #allowsLogTimes = true

  /** @param isShared true while the process serves requests: ranges are smaller then */
  constructor(chain: EvmChain, isShared: () => boolean) {
    this.#chain = chain
    this.#width = createLogRangeWidth(undefined, isShared)
  }

  /** The running hashes after a block. The nodes' answer is cached, since two ranges meet at a block. */
  readonly hashesAt: RunningHashReader = (number, lastHash) => {
    const folded = this.#foldedAt(number, lastHash)
    if (folded) return Promise.resolve(folded)
    const hash = toHex(lastHash)
    const answer =
      this.#answersByBlockHash.get(hash) ??
      readAgreedRunningHashesOrNull(this.#chain, { number, hash })
    this.#answersByBlockHash.set(hash, answer)
    const forget = () => this.#answersByBlockHash.delete(hash)
    answer.then((hashes) => hashes ?? forget(), forget)
    return answer
  }

  /** Forgets the nodes' cached answers, one of which may be wrong after a failed step. */
  forget(): void {
    this.#answersByBlockHash.clear()
  }

  #foldedAt(number: number, hash: Buffer): AgreedAnswer<RunningHashes> | null {
    const folded = this.#foldedHashes.get(number)
    return folded?.hash.equals(hash) ? folded.runningHashes : null
  }

  /** Fetches consecutive ranges of blocks from a cursor up to block `to`. The next ranges are read ahead. */
  ranges(
    before: RunningHashes,
    from: number,
    to: number,
  ): AsyncGenerator<AgreedAnswer<CheckedLogRange>> {
    const { hashesAt } = this
    // answers of an earlier step, which may have failed, are requested again
    this.#answersByBlockHash.clear()
    const source = checkedLogRangeSource(this.#chain, this.#width, { from, before, hashesAt })
    const blocks = { from, to, width: this.#width, cuts: [...this.#foldedHashes.keys()] }
    return readRangesAhead(blocks, (first, last) => readBlocksInRanges(source, first, last))
  }

  /**
   * Calculates the running hashes at a cursor for which neither the database nor the nodes have them, from all logs
   * since `startBlock`. The running hashes at the newest block prove these logs.
   * @param alive called after each range
   * @throws as `foldAhead`; RpcError where the cursor's block is not in the proved chain
   */
  async hashesFromStart(
    { nextBlock, parentHash }: StoredCursor,
    latest: BlockHeader,
    alive: () => void,
  ): Promise<RunningHashes> {
    const { config } = this.#chain
    const number = nextBlock - 1
    // reading all logs may take hours, so hashes that nodes return, or that an earlier step calculated, are used first
    let hashes = await this.hashesAt(number, parentHash!)
    if (!hashes) {
      const blocks = { from: config.startBlock, parentHash: null, confirmed: number, latest }
      await this.foldAhead(initialRunningHashes(config), blocks, alive)
      hashes = this.#foldedAt(number, parentHash!)
    }
    if (!hashes)
      throw transientError(`the contracts' running hashes of block ${number} are not known`)
    return hashes.answer
  }

  /**
   * Reads all logs of a catch-up once without storing them, to calculate the running hashes at blocks whose state is
   * pruned on the nodes. The running hashes that nodes return for block `confirmed`, or else for the block `latest`, prove
   * all logs up to that block.
   * @param alive called after each range
   * @throws NoQuorumError or ChainUnavailableError that says why nodes return neither; errors of `readBlocksInRanges`;
   * RpcError where a block was replaced meanwhile; RefutedAnswerError where the logs do not produce the hashes: the
   * nodes that returned the logs are then asked last
   */
  async foldAhead(
    before: RunningHashes,
    {
      from,
      parentHash,
      confirmed,
      latest,
    }: { from: number; parentHash: Buffer | null; confirmed: number; latest: BlockHeader },
    alive: () => void,
  ): Promise<void> {
    const chain = this.#chain
    const header = await chain.rpc.onOneNode((call) => requireBlockHeader(call, confirmed))
    const early = await readAgreedRunningHashesOrNull(chain, header)
    const top = early ? header : latest
    const agreed = early ?? (await readAgreedRunningHashes(chain, latest))
    const source = logRangeSource(
      chain,
      this.#width,
      this.#allowsLogTimes && isCoveredByRunningHash(chain),
    )
    this.#allowsLogTimes = false

    const folded: FoldedHashes = new Map()
    const hosts = new Set<string>()
    let lastHash = parentHash
    let running = agreed.map(() => before)
    // asks two nodes: if one node moved a log to a later block, the log would be missing in its real block
    const ahead = readRangesAhead(
      { from, to: top.number, width: this.#width, cuts: [confirmed] },
      (first, last) => readBlocksInRanges(source, first, last),
    )
    for await (const { answer: range, givers } of ahead) {
      alive()
      hosts.add(givers[0]!.host)
      if (lastHash && !range.parentHash.equals(lastHash))
        throw transientError(
          `getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`,
        )
      // consecutive ranges without logs, up to some 100,000, share one object
      if (range.decoded.runningHashInputs.length > 0)
        running = running.map((hashes) => runningHashesAfterLogs(chain, hashes, range.decoded))
      lastHash = range.lastHash
      folded.set(range.to, { hash: range.lastHash, runningHashes: running })
    }
    if (!lastHash?.equals(fromHex(top.hash)))
      throw transientError(
        `block ${top.number} has been replaced since its running hashes were read`,
      )
    if (!isDeepStrictEqual(running.answer, agreed.answer)) {
      const logs = `the logs of blocks ${from}-${top.number}, given by ${[...hosts].join(', ')},`
      const what = parentHash
        ? 'a node left some out, and others are asked'
        : 'a node left some out, and others are asked, or `startBlock` is after the first of them'
      const error = new RefutedAnswerError(runningHashMismatchText(chain, agreed, logs, what))
      chain.rpc.refute(hosts, error)
      throw error
    }
    this.#foldedHashes = folded
    this.#allowsLogTimes = true
  }
}
