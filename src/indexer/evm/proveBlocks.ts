import { isDeepStrictEqual } from 'node:util'
import type { EvmChain } from '../../chains/evm/chain.js'
import { blockAt } from '../../chains/evm/logs.js'
import { type ChainRecord, foldRecord } from '../../chains/evm/record.js'
import { ContradictingError, LackingError, transient } from '../../chains/rpc/errors.js'
import type { Agreed, Call } from '../../chains/rpc/nodes.js'
import type { ChainRow } from '../../db/journal/chains.js'
import {
  assertMakes,
  keepsRecord,
  knownRecordAt,
  type Place,
  type ProvedRange,
  provedRange,
  recordAt,
  unrecorded,
} from '../../record/prove.js'
import { type ConfirmedRange, hasSame, isProvable, readInParts } from '../../record/ranges.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { decodedOf, type TailBlock } from './types.js'

/** Record as of a block, asked for while logs are read. */
export interface AskedRecord {
  hash: Buffer
  record: ReturnType<typeof knownRecordAt>
}

/** Blocks above the checkpoint. */
interface KnownTail {
  tail: readonly TailBlock[]
  /** The checkpoint. */
  place: Place
  /** Nodes that have to give equal answers. */
  nodes: number
}

const rangeOf = (blocks: readonly TailBlock[]): ConfirmedRange => ({
  from: blocks[0]!.block,
  to: blocks.at(-1)!.block,
  decoded: decodedOf(blocks),
  parentHash: blocks[0]!.parentHash,
  lastHash: blocks.at(-1)!.hash,
})

/**
 * Proves blocks of the tail that are confirmed now. What the tail has of a hub's is enough where it makes the record,
 * but for the places of logs, which no record holds: a second node has to give the same. Where only the newest block's
 * record is known, it proves the whole tail.
 * @throws UndecidedError, ChainUnavailableError, RpcError
 */
export async function proveBlocks(
  chain: EvmChain,
  row: ChainRow,
  known: KnownTail & { blocks: readonly TailBlock[]; asked: AskedRecord | null },
): Promise<ProvedRange[]> {
  const { blocks, tail, place, asked, nodes: least } = known
  if (blocks.length === 0) return []
  const seen = rangeOf(blocks)
  const { from, to, lastHash } = seen
  const keeps = keepsRecord(chain)
  const isAsked = asked?.hash.equals(lastHash)
  const end = { number: to, hash: toHex(lastHash) }
  const own = keeps ? await (isAsked ? asked!.record : knownRecordAt(chain, end, least)) : null
  const top = keeps && !own ? await recordByTop(chain, row, known) : null
  const answer = foldRecord(place.record, seen.decoded.record)
  const record = top ? { answer, nodes: top.nodes } : own
  const isMade = isProvable(chain) && isDeepStrictEqual(answer, record?.answer)
  const isAlone = chain.rpc.size === 1 || least === 1
  const ask = async (call: Call): Promise<ConfirmedRange> => {
    // by the newest block's record each log of the tail has to be in its block
    const logs = { ...rangeOf(top ? tail : blocks), to, lastHash }
    if (isMade && (await hasSame(call, chain, logs))) return seen
    const read = await readInParts(call, chain, { from, to, isHinted: false })
    if (place.lastHash && !read.parentHash.equals(place.lastHash))
      throw new ContradictingError(`a node is on another fork at blocks ${from}-${to}`)
    if (top && !isDeepStrictEqual(read, seen))
      throw new ContradictingError(`a node has other logs in blocks ${from}-${to}`)
    if (record) assertMakes(chain, place.record, read, record.answer)
    const places = new Set(read.decoded.places)
    const missing = seen.decoded.places.find((one) => !places.has(one))
    if (missing !== undefined && !isProvable(chain))
      throw new LackingError(
        `a node leaves out a log of block ${blockAt(missing)} that was read by the block's hash`,
      )
    return read
  }
  const isEnough = isMade && (isAlone || (!top && seen.decoded.places.length === 0))
  const proved = isEnough
    ? { answer: seen, nodes: 1 }
    : await chain.rpc.agreed(ask, { least, isProved: isProvable(chain) && !top })
  const range = provedRange(chain, { ...proved.answer, nodes: proved.nodes, record })
  if (!range.parentHash.equals(seen.parentHash) || !range.lastHash.equals(lastHash))
    throw transient(`blocks ${from}-${to} of chain "${row.label}" are of another fork than before`)
  return [range]
}

/**
 * Record of the newest known block, which all logs of the tail have to make: nodes have its state longest.
 * @throws Error where they don't; UndecidedError, ChainUnavailableError
 */
export async function recordByTop(
  chain: EvmChain,
  row: ChainRow,
  { tail, place, nodes }: KnownTail,
): Promise<Agreed<ChainRecord>> {
  const top = tail.at(-1)
  const hash = top?.hash ?? row.parentHash
  if (!hash) throw transient('the chain has no confirmed block')
  const number = top?.block ?? row.nextBlock - 1
  const own = await recordAt(chain, { number, hash: toHex(hash) }, nodes)
  const made = foldRecord(place.record, decodedOf(tail).record)
  if (!isDeepStrictEqual(made, own.answer)) throw new Error(unrecorded(chain, number))
  return own
}
