import { isDeepStrictEqual } from 'node:util'
import { fromHex, toHex } from '../../../registry/primitives/bytes.js'
import { RefutedAnswerError, transientError } from '../../rpc/errors.js'
import type { AgreedAnswer } from '../../rpc/nodes.js'
import type { EvmChain } from '../chain.js'
import { type BlockHeader, getBlockHeader } from '../logs.js'
import { initialRunningHashes, type RunningHashes } from './hashes.js'
import {
  type CheckedLogRange,
  checkedLogRangeSource,
  type KnownRunningHashes,
  type LastConfirmedHashes,
  readAgreedRunningHashes,
  readAgreedRunningHashesOrNull,
  runningHashesAfterLogs,
  runningHashMismatchText,
  type StoredCheckpoint,
} from './prove.js'
import {
  isCoveredByRunningHash,
  logRangeSource,
  readBlocksInRanges,
  readRangesAhead,
} from './ranges.js'
import { createLogRangeWidth, type LogRangeWidth } from './width.js'

/** Fetches a chain's confirmed logs for the backfill, with the contracts' running hashes that prove them. */
export class RangeFetcher {
  readonly #chain: EvmChain
  readonly #width: LogRangeWidth
  /** Running hashes that `foldAhead` calculated for the ends of later ranges, whose state nodes have pruned. */
  #folded: KnownRunningHashes = new Map()
  /** False after a `foldAhead` that failed: block times in the logs may be wrong, so headers are read. */
  #isHinted = true

  /** @param isShared true while the process serves requests: ranges are smaller then */
  constructor(chain: EvmChain, isShared: () => boolean) {
    this.#chain = chain
    this.#width = createLogRangeWidth(undefined, isShared)
  }

  /** Fetches consecutive ranges of blocks from a checkpoint up to block `to`. The next ranges are read ahead. */
  ranges(
    before: LastConfirmedHashes,
    from: number,
    to: number,
  ): AsyncGenerator<AgreedAnswer<CheckedLogRange>> {
    const known = this.#folded
    const source = checkedLogRangeSource(this.#chain, this.#width, { from, before, known })
    const blocks = { from, to, width: this.#width, cuts: [...known.keys()] }
    return readRangesAhead(blocks, (first, last) => readBlocksInRanges(source, first, last))
  }

  /**
   * Calculates the running hashes at a checkpoint for which neither the database nor the nodes have them, from all logs
   * since `startBlock`. The running hashes at the newest block prove these logs.
   * @throws NoQuorumError or ChainUnavailableError; RpcError where the checkpoint's block is not in the proved chain
   */
  async hashesFromStart(
    { nextBlock, parentHash }: StoredCheckpoint,
    latest: BlockHeader,
    alive: () => void,
  ): Promise<LastConfirmedHashes> {
    const { config } = this.#chain
    const number = nextBlock - 1
    const block = { number, hash: toHex(parentHash!) }
    const calculated = () => {
      const found = this.#folded.get(number)
      return found?.hash.equals(parentHash!) ? found.runningHashes : null
    }
    // reading all logs may take hours, so neither a momentary fault of a node nor a later failed step may cause it
    let hashes = calculated() ?? (await readAgreedRunningHashesOrNull(this.#chain, block))
    if (!hashes) {
      const before = { lastHash: null, runningHashes: initialRunningHashes(config) }
      const blocks = { from: config.startBlock, confirmed: number, latest }
      await this.foldAhead(before, blocks, alive)
      hashes = calculated()
    }
    if (!hashes)
      throw transientError(`the contracts' running hashes of block ${number} are not known`)
    return { lastHash: parentHash, runningHashes: hashes.answer }
  }

  /**
   * Reads all logs of a catch-up once without storing them, to calculate the running hashes at blocks whose state nodes
   * have pruned. The running hashes that nodes return for block `confirmed`, or else for the block `latest`, prove all
   * logs up to there at once.
   * @throws NoQuorumError or ChainUnavailableError that says why nodes return neither; RefutedAnswerError where the logs
   * do not produce them: the nodes that returned the logs are then asked last
   */
  async foldAhead(
    before: LastConfirmedHashes,
    { from, confirmed, latest }: { from: number; confirmed: number; latest: BlockHeader },
    alive: () => void,
  ): Promise<void> {
    const chain = this.#chain
    const header = await chain.rpc.onOneNode((call) => getBlockHeader(call, confirmed))
    if (!header) throw transientError(`eth_getBlockByNumber: block ${confirmed} is missing`)
    const early = await readAgreedRunningHashesOrNull(chain, header)
    const top = early ? header : latest
    const agreed = early ?? (await readAgreedRunningHashes(chain, latest))
    const source = logRangeSource(
      chain,
      this.#width,
      this.#isHinted && isCoveredByRunningHash(chain),
    )
    this.#isHinted = false

    const known = new Map<number, { hash: Buffer; runningHashes: AgreedAnswer<RunningHashes> }>()
    const hosts = new Set<string>()
    let { lastHash } = before
    let running = agreed.map(() => before.runningHashes)
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
      known.set(range.to, { hash: range.lastHash, runningHashes: running })
    }
    if (!lastHash?.equals(fromHex(top.hash)))
      throw transientError(
        `block ${top.number} has been replaced since its running hashes were read`,
      )
    if (!isDeepStrictEqual(running.answer, agreed.answer)) {
      const logs = `the logs of blocks ${from}-${top.number}, given by ${[...hosts].join(', ')},`
      const what = before.lastHash
        ? 'a node left some out, and others are asked'
        : 'a node left some out, and others are asked, or `startBlock` is after the first of them'
      const error = new RefutedAnswerError(runningHashMismatchText(chain, agreed, logs, what))
      chain.rpc.refute(hosts, error)
      throw error
    }
    this.#folded = known
    this.#isHinted = true
  }
}
