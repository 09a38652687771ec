import type { EvmChain } from '../../chains/evm/chain.js'
import { getHeader, type Header } from '../../chains/evm/logs.js'
import { transient } from '../../chains/rpc/errors.js'
import { DisagreementError } from '../../chains/rpc/nodes.js'
import {
  type FetchedRange,
  foldTo,
  hashAt,
  type KnownRecords,
  keepsRecord,
  knownRecordAt,
  type Place,
  recordAt,
} from '../../record/prove.js'
import { inRanges, isProvable, joined, rangesAhead, rangesOf } from '../../record/ranges.js'
import { createRangeWidth } from '../../record/width.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { undecided } from './undecided.js'

/** Fetches a chain's confirmed logs for its writer, with the records that prove them. */
export class RangeFetcher {
  readonly #chain: EvmChain
  readonly #width = createRangeWidth()
  /** Records at the ends of ranges to come, where nodes no longer have the state. */
  #known: KnownRecords = new Map()
  /** False after a catch-up whose logs did not make the record: times in logs may be wrong. */
  #isHinted = true

  constructor(chain: EvmChain) {
    this.#chain = chain
  }

  /**
   * Consecutive ranges from block `from` to `to`, some read ahead.
   * @param nodes that have to give equal answers
   */
  ranges(from: number, to: number, nodes: number): AsyncGenerator<FetchedRange> {
    const blocks = { from, to, width: this.#width, cuts: [...this.#known.keys()] }
    return rangesAhead(blocks, (first, last) => this.#fetch(first, last, nodes))
  }

  async #fetch(from: number, to: number, nodes: number): Promise<FetchedRange[]> {
    const chain = this.#chain
    const source = rangesOf(chain, this.#width, nodes)
    const parts = await inRanges(source, from, to).catch((error: unknown) => {
      if (undecided(error) instanceof DisagreementError) return null
      throw error
    })
    const known = this.#known.get(to)
    const folded = known && { foldedHash: await hashAt(chain, to, nodes) }
    if (!parts) {
      const header = await chain.rpc.onOneNode((call) => getHeader(call, to))
      const isAsked = header && keepsRecord(chain)
      const record = known ?? (isAsked ? await knownRecordAt(chain, header, nodes) : null)
      return [{ from, to, range: null, record, ...folded }]
    }
    if (known) {
      const least = Math.min(...parts.map((part) => part.nodes))
      return [{ from, to, range: { ...joined(parts), nodes: least }, record: known, ...folded }]
    }
    return Promise.all(
      parts.map(async (range) => {
        const { from: first, to: number, lastHash } = range
        const end = { number, hash: toHex(lastHash) }
        const record = keepsRecord(chain) ? await knownRecordAt(chain, end, nodes) : null
        return { from: first, to: number, range, record }
      }),
    )
  }

  /**
   * Learns the records of a catch-up whose blocks' state is gone: from the newest confirmed block, or from the newest.
   * @throws UndecidedError or ChainUnavailableError that says why neither is known
   */
  async foldAhead(
    before: Place,
    { from, confirmed, latest }: { from: number; confirmed: number; latest: Header },
    nodes: number,
    alive: () => void,
  ): Promise<void> {
    const chain = this.#chain
    const header = await chain.rpc.onOneNode((call) => getHeader(call, confirmed))
    if (!header) throw transient(`eth_getBlockByNumber: block ${confirmed} is missing`)
    const early = await knownRecordAt(chain, header, nodes)
    const { number, hash } = early ? header : latest
    const record = early ?? (await recordAt(chain, latest, nodes))
    const isHinted = this.#isHinted && isProvable(chain)
    const blocks = { from, confirmed, width: this.#width, isHinted }
    this.#isHinted = false
    this.#known = await foldTo(chain, before, blocks, { number, hash, record }, nodes, alive)
    this.#isHinted = true
  }
}
