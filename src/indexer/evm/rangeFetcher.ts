import type { EvmChain } from '../../chains/evm/chain.js'
import { type BlockHeader, getBlockHeader } from '../../chains/evm/logs.js'
import { transientError } from '../../chains/rpc/errors.js'
import {
  type KnownChainRecords,
  proveLogsUpTo,
  type RangeCheckedByRecord,
  type RecordAttachPoint,
  rangesCheckedByRecord,
  readRecordAgreedByNodes,
  readRecordAgreedByNodesOrNull,
} from '../../record/prove.js'
import { isCoveredByRecord, readInRanges, readRangesAhead } from '../../record/ranges.js'
import { createLogRangeWidth, type LogRangeWidth } from '../../record/width.js'

/** A range with the number of nodes that gave its logs. */
export type FetchedRange = RangeCheckedByRecord & { nodes: number }

/** Fetches a chain's confirmed logs for its writer, with the records that prove them. */
export class RangeFetcher {
  readonly #chain: EvmChain
  readonly #width: LogRangeWidth
  /** Records at the ends of later ranges, for nodes that no longer have the state. */
  #folded: KnownChainRecords = new Map()
  /** Number of nodes that agreed on the blocks of the folded logs. */
  #foldedBy = 0
  /** False after a catch-up whose logs did not produce the record: the times in the logs may be wrong. */
  #isHinted = true

  /** @param isShared true while the process serves requests */
  constructor(chain: EvmChain, isShared: () => boolean) {
    this.#chain = chain
    this.#width = createLogRangeWidth(undefined, isShared)
  }

  /**
   * Consecutive ranges from a checkpoint up to block `to`, some read ahead.
   * @param nodes that have to give equal answers
   */
  ranges(
    before: RecordAttachPoint,
    from: number,
    to: number,
    nodes: number,
  ): AsyncGenerator<FetchedRange> {
    // records that too few nodes confirm must not refute another node
    const known: KnownChainRecords = this.#foldedBy >= nodes ? this.#folded : new Map()
    const source = rangesCheckedByRecord(this.#chain, this.#width, { from, before, known, nodes })
    const blocks = { from, to, width: this.#width, cuts: [...known.keys()] }
    return readRangesAhead(blocks, (first, last) => readInRanges(source, first, last))
  }

  /**
   * Calculates the records of a catch-up whose state nodes have dropped: from the newest confirmed block, or from the
   * newest block.
   * @throws UndecidedError or ChainUnavailableError that says why neither is known
   */
  async foldAhead(
    before: RecordAttachPoint,
    { from, confirmed, latest }: { from: number; confirmed: number; latest: BlockHeader },
    nodes: number,
    alive: () => void,
  ): Promise<void> {
    const chain = this.#chain
    const header = await chain.rpc.onOneNode((call) => getBlockHeader(call, confirmed))
    if (!header) throw transientError(`eth_getBlockByNumber: block ${confirmed} is missing`)
    const early = await readRecordAgreedByNodesOrNull(chain, header, nodes)
    const { number, hash } = early ? header : latest
    const record = early ?? (await readRecordAgreedByNodes(chain, latest, nodes))
    const isHinted = this.#isHinted && isCoveredByRecord(chain)
    const blocks = { from, confirmed, width: this.#width, isHinted }
    this.#isHinted = false
    this.#folded = await proveLogsUpTo(
      chain,
      before,
      blocks,
      { number, hash, record },
      nodes,
      alive,
    )
    this.#foldedBy = nodes
    this.#isHinted = true
  }
}
