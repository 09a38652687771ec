import type { EvmChain } from '../../chains/evm/chain.js'
import { getHeader, type Header } from '../../chains/evm/logs.js'
import { transient } from '../../chains/rpc/errors.js'
import {
  type AttachPoint,
  type CheckedRange,
  type KnownRecords,
  proveUpTo,
  rangesCheckedByRecord,
  recordAt,
  recordAtOrNull,
} from '../../record/prove.js'
import { isProvable, readInRanges, readRangesAhead } from '../../record/ranges.js'
import { createRangeWidth } from '../../record/width.js'

/** With the number of nodes that gave the logs. */
export type FetchedRange = CheckedRange & { nodes: number }

/** Fetches a chain's confirmed logs for its writer, with the records that prove them. */
export class RangeFetcher {
  readonly #chain: EvmChain
  readonly #width = createRangeWidth()
  /** Records at the ends of ranges to come, where nodes no longer have the state. */
  #folded: KnownRecords = new Map()
  /** Nodes that agreed on the blocks of the logs that were folded. */
  #foldedBy = 0
  /** False after a catch-up whose logs did not make the record: times in logs may be wrong. */
  #isHinted = true

  constructor(chain: EvmChain) {
    this.#chain = chain
  }

  /**
   * Consecutive ranges from the place up to block `to`, some read ahead.
   * @param nodes that have to give equal answers
   */
  ranges(
    before: AttachPoint,
    from: number,
    to: number,
    nodes: number,
  ): AsyncGenerator<FetchedRange> {
    // what one node placed refutes no other
    const known: KnownRecords = this.#foldedBy >= nodes ? this.#folded : new Map()
    const source = rangesCheckedByRecord(this.#chain, this.#width, { from, before, known, nodes })
    const blocks = { from, to, width: this.#width, cuts: [...known.keys()] }
    return readRangesAhead(blocks, (first, last) => readInRanges(source, first, last))
  }

  /**
   * Learns the records of a catch-up whose blocks' state is gone: from the newest confirmed block, or from the newest.
   * @throws UndecidedError or ChainUnavailableError that says why neither is known
   */
  async foldAhead(
    before: AttachPoint,
    { from, confirmed, latest }: { from: number; confirmed: number; latest: Header },
    nodes: number,
    alive: () => void,
  ): Promise<void> {
    const chain = this.#chain
    const header = await chain.rpc.onOneNode((call) => getHeader(call, confirmed))
    if (!header) throw transient(`eth_getBlockByNumber: block ${confirmed} is missing`)
    const early = await recordAtOrNull(chain, header, nodes)
    const { number, hash } = early ? header : latest
    const record = early ?? (await recordAt(chain, latest, nodes))
    const isHinted = this.#isHinted && isProvable(chain)
    const blocks = { from, confirmed, width: this.#width, isHinted }
    this.#isHinted = false
    this.#folded = await proveUpTo(chain, before, blocks, { number, hash, record }, nodes, alive)
    this.#foldedBy = nodes
    this.#isHinted = true
  }
}
