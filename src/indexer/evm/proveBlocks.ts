import { isDeepStrictEqual } from 'node:util'
import type { EvmChain } from '../../chains/evm/chain.js'
import { type ChainRecord, foldRecord } from '../../chains/evm/record.js'
import { transient } from '../../chains/rpc/errors.js'
import type { Agreed } from '../../chains/rpc/nodes.js'
import type { ChainRow } from '../../db/journal/chains.js'
import {
  type FetchedRange,
  hashAt,
  keepsRecord,
  knownRecordAt,
  makesRecord,
  type Place,
  type ProvedRange,
  prove,
  recordAt,
  unrecorded,
} from '../../record/prove.js'
import { type ConfirmedRange, isProvable } from '../../record/ranges.js'
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

/**
 * Proves blocks of the tail that are confirmed now. What the tail has of a hub's is enough where it makes the record,
 * but for the places of logs, which no record holds: a second node has to give the same.
 * @throws UndecidedError, ChainUnavailableError, RpcError
 */
export async function proveBlocks(
  chain: EvmChain,
  row: ChainRow,
  known: KnownTail & { blocks: readonly TailBlock[]; asked: AskedRecord | null },
): Promise<ProvedRange[]> {
  const { blocks, place, nodes } = known
  const first = blocks[0]
  const last = blocks.at(-1)
  if (!first || !last) return []
  const from = first.block
  const to = last.block
  const withLogs = blocks.filter(({ decoded }) => decoded.places.length > 0)
  const seen: ConfirmedRange = {
    from,
    to,
    decoded: decodedOf(blocks),
    parentHash: first.parentHash,
    lastHash: last.hash,
    logBlocks: withLogs.map(({ block }) => block),
  }
  const made = keepsRecord(chain) ? await recordOf(chain, row, known, seen) : { record: null }
  const { record } = made
  const isEnough =
    isProvable(chain) &&
    (!('foldedHash' in made) || chain.rpc.size === 1 || nodes === 1) &&
    makesRecord(place, seen, record) &&
    (withLogs.length === 0 || chain.rpc.size === 1 || nodes === 1)
  const range = isEnough ? { ...seen, nodes: 1 } : null
  const proved = await prove(chain, place, { ...made, from, to, range }, { nodes, seen })
  if (!proved.parentHash.equals(first.parentHash) || !proved.lastHash.equals(last.hash))
    throw transient(`blocks ${from}-${to} of chain "${row.label}" are of another fork than before`)
  return [proved]
}

/** Record at the end of confirmed blocks, or made from that of the newest known block. */
async function recordOf(
  chain: EvmChain,
  row: ChainRow,
  { asked, ...known }: KnownTail & { asked: AskedRecord | null },
  seen: ConfirmedRange,
): Promise<Pick<FetchedRange, 'record' | 'foldedHash'>> {
  const end = { number: seen.to, hash: toHex(seen.lastHash) }
  const isAsked = asked?.hash.equals(seen.lastHash)
  const own = await (isAsked ? asked!.record : knownRecordAt(chain, end, known.nodes))
  if (own) return { record: own }
  const { nodes } = await recordByTop(chain, row, known)
  const answer = foldRecord(known.place.record, seen.decoded.record)
  return {
    record: { answer, nodes },
    foldedHash: await hashAt(chain, seen.to, known.nodes),
  }
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
