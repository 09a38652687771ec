import type { EvmChain } from '../../chains/evm/chain.js'
import { type BlockHeader, getBlockHeader } from '../../chains/evm/logs.js'
import { initialRunningHashes } from '../../chains/evm/record.js'
import { transientError } from '../../chains/rpc/errors.js'
import type { ChainRow } from '../../db/journal/chains.js'
import {
  checkedLogRangeSource,
  type KnownRunningHashes,
  type LastConfirmedHashes,
  proveLogsUpTo,
  type RangeWithCheckedHashes,
  readAgreedRunningHashes,
  readAgreedRunningHashesOrNull,
} from '../../record/prove.js'
import { isCoveredByRunningHash, readBlocksInRanges, readRangesAhead } from '../../record/ranges.js'
import { createLogRangeWidth, type LogRangeWidth } from '../../record/width.js'
import { toHex } from '../../registry/primitives/bytes.js'

/** A range of blocks, with the number of nodes that returned its logs. */
export type FetchedRange = RangeWithCheckedHashes & { nodes: number }

/** Fetches a chain's confirmed logs for the backfill, with the contracts' running hashes (records) that prove them. */
export class RangeFetcher {
  readonly #chain: EvmChain
  readonly #width: LogRangeWidth
  /**
   * Records (running hashes) that `foldAhead` calculated for the ends of later ranges, whose state nodes have pruned.
   */
  #folded: KnownRunningHashes = new Map()
  /** False after a `foldAhead` that failed: block times in the logs may be wrong, so headers are read. */
  #isHinted = true

  /** @param isShared true while the process serves requests: ranges are smaller then */
  constructor(chain: EvmChain, isShared: () => boolean) {
    this.#chain = chain
    this.#width = createLogRangeWidth(undefined, isShared)
  }

  /** Fetches consecutive ranges of blocks from a checkpoint up to block `to`. The next ranges are read ahead. */
  ranges(before: LastConfirmedHashes, from: number, to: number): AsyncGenerator<FetchedRange> {
    const known = this.#folded
    const source = checkedLogRangeSource(this.#chain, this.#width, { from, before, known })
    const blocks = { from, to, width: this.#width, cuts: [...known.keys()] }
    return readRangesAhead(blocks, (first, last) => readBlocksInRanges(source, first, last))
  }

  /**
   * Calculates the record (running hashes) at a checkpoint for which neither the database nor the nodes have it, from
   * all logs since `startBlock`. The record of the newest block proves these logs.
   * @throws NoQuorumError or ChainUnavailableError; RpcError where the checkpoint's block is not in the proved chain
   */
  async recordFromStart(
    { nextBlock, parentHash }: ChainRow,
    latest: BlockHeader,
    alive: () => void,
  ): Promise<LastConfirmedHashes> {
    const { config } = this.#chain
    const number = nextBlock - 1
    const block = { number, hash: toHex(parentHash!) }
    // reading all logs may take hours, so a momentary fault of a node must not cause it
    const own = await readAgreedRunningHashesOrNull(this.#chain, block)
    if (own) return { lastHash: parentHash, record: own.answer }
    const before = { lastHash: null, record: initialRunningHashes(config) }
    const blocks = { from: config.startBlock, confirmed: number, latest }
    await this.foldAhead(before, blocks, alive)
    const found = this.#folded.get(number)
    if (!found?.hash.equals(parentHash!))
      throw transientError(`the contracts' record of block ${number} is not known`)
    return { lastHash: parentHash, record: found.record.answer }
  }

  /**
   * Reads all logs of a catch-up once, to calculate the records (running hashes) at blocks whose state nodes have
   * pruned. The logs are checked against the record of block `confirmed`, or else of the block `latest`.
   * @throws NoQuorumError or ChainUnavailableError that says why nodes return neither record
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
    const { number, hash } = early ? header : latest
    const record = early ?? (await readAgreedRunningHashes(chain, latest))
    const isHinted = this.#isHinted && isCoveredByRunningHash(chain)
    const blocks = { from, confirmed, width: this.#width, isHinted }
    this.#isHinted = false
    this.#folded = await proveLogsUpTo(chain, before, blocks, { number, hash, record }, alive)
    this.#isHinted = true
  }
}
