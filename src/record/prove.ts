import { isDeepStrictEqual } from 'node:util'
import { ChainUnavailableError, type Hex } from '../chains/chain.js'
import type { EvmChain } from '../chains/evm/chain.js'
import { getHeader } from '../chains/evm/logs.js'
import {
  type ChainRecord,
  foldRecord,
  keepersOf,
  type RecordBlock,
  readRecord,
  storedRecord,
} from '../chains/evm/record.js'
import {
  ContradictingError,
  LackingError,
  RefutedError,
  RpcError,
  transient,
} from '../chains/rpc/errors.js'
import { type Agreed, type Call, DisagreementError } from '../chains/rpc/nodes.js'
import type { ChainRow } from '../db/journal/chains.js'
import type { Ground } from '../ops/chainState.js'
import { orIf } from '../ops/log/errors.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import {
  type ConfirmedRange,
  inRanges,
  isProvable,
  leastOf,
  rangesAhead,
  rangesOf,
  readAgain,
  readInParts,
} from './ranges.js'
import type { RangeWidth } from './width.js'

/** Where the next confirmed logs have to attach. */
export interface Place {
  /** Hash of the last block before; null before the first block. */
  lastHash: Buffer | null
  /** Running hashes over all logs before. */
  record: ChainRecord
}

/** Confirmed logs, which are a place themselves. */
export type ProvedRange = ConfirmedRange & Place & { lastHash: Buffer; ground: Ground }

export const keepsRecord = ({ config }: EvmChain): boolean => keepersOf(config).length > 0

/** Ground of logs. Where two nodes are configured, one proves nothing. */
export function groundOf(chain: EvmChain, nodes: number): Ground {
  const isEnough = nodes >= Math.min(2, chain.config.rpcUrls.length)
  if (isProvable(chain) && isEnough) return { trust: 'proved', nodes }
  return { trust: nodes > 1 ? 'compared' : 'trusted', nodes }
}

/** Sentence for logs in the journal that are not the contracts'. */
export const unrecorded = ({ config }: EvmChain, block: number): string =>
  `the logs of chain "${config.label}" up to block ${block} do not make its contracts' record: \`startBlock\` is behind the first of them, or a node left some out; \`clusterd journal rewind --chain ${config.label} --block ${config.startBlock}\` with another node brings them in`

/**
 * Record that a chain's contracts keep as of a block: equal by two nodes where two are configured.
 * @throws UndecidedError, ChainUnavailableError or RpcError where it is not known
 */
export const recordAt = (
  { rpc, config }: EvmChain,
  block: RecordBlock,
  nodes = 2,
): Promise<Agreed<ChainRecord>> =>
  rpc.agreed((call) => readRecord(call, config, fromHex(block.hash), block.number), {
    least: () => nodes,
  })

/** As `recordAt`; null where it is not known, which may be known at another block. @throws DisagreementError */
export const knownRecordAt = (
  chain: EvmChain,
  block: RecordBlock,
  nodes?: number,
): Promise<Agreed<ChainRecord> | null> => orIf(recordAt(chain, block, nodes), isUnknown, null)

const isUnknown = (error: unknown): boolean =>
  (error instanceof ChainUnavailableError || error instanceof RpcError) &&
  !(error instanceof DisagreementError)

/**
 * Place of a chain's checkpoint, with the ground of the record there where nodes gave it. The record was stored with the
 * checkpoint; a contract that was named later begins at its own. A hub's is zero before its first block, so logs before
 * `startBlock` show.
 * @throws Error where the contracts contradict what is stored; DisagreementError, ChainUnavailableError
 */
export async function placeOf(
  chain: EvmChain,
  { parentHash, nextBlock, record }: ChainRow,
): Promise<{ place: Place; ground: Ground | null }> {
  const { config, rpc } = chain
  const keepers = keepersOf(config)
  const number = nextBlock - 1
  const isAsked = keepers.length > 0 && number >= 0
  const header =
    isAsked && !parentHash ? await rpc.onOneNode((call) => getHeader(call, number)) : null
  const hash = parentHash ? toHex(parentHash) : header?.hash
  const own = isAsked && hash ? await knownRecordAt(chain, { number, hash }) : null
  const stored = parentHash ? storedRecord(config, parentHash, record) : []
  const zero = Buffer.alloc(32)
  const hashes = keepers.map(({ kind }, i) => {
    const known = stored[i] ?? (!parentHash && kind === 'hub' ? zero : null)
    if (known && own && !own.answer[i]!.equals(known)) throw new Error(unrecorded(chain, number))
    return known ?? own?.answer[i] ?? null
  })
  const unknown = keepers[hashes.indexOf(null)]
  if (unknown?.kind === 'hub') throw transient(`the hub's record can't be read at block ${number}`)
  return {
    // a payments contract whose record nobody has there was deployed later, or its next record differs
    place: { lastHash: parentHash, record: hashes.map((one) => one ?? zero) },
    ground: own && groundOf(chain, own.nodes),
  }
}

/** Logs that nodes gave, before they are proved. */
export interface FetchedRange {
  from: number
  to: number
  /** Null where nodes contradict each other. */
  range: (ConfirmedRange & { nodes: number }) | null
  /** Record as of the last block; null where the chain keeps none. */
  record: Agreed<ChainRecord> | null
  /**
   * Hash of the last block by as many nodes as have to agree, where the record was folded up to a later one: then it
   * rests on the blocks in which one node placed its logs, and refutes no other node.
   */
  foldedHash?: Buffer
}

/** Hash of a block, equal by two nodes where two are configured. @throws as `agreed` */
export const hashAt = async ({ rpc }: EvmChain, block: number, nodes: number): Promise<Buffer> => {
  const ask = async (call: Call): Promise<Hex> => {
    const header = await getHeader(call, block)
    if (!header) throw new LackingError(`eth_getBlockByNumber: the node lacks block ${block}`)
    return header.hash
  }
  return fromHex((await rpc.agreed(ask, { least: () => nodes })).answer)
}

export const makesRecord = (
  before: Place,
  { decoded }: ConfirmedRange,
  record: FetchedRange['record'],
): boolean =>
  record === null || isDeepStrictEqual(foldRecord(before.record, decoded.record), record.answer)

/**
 * Proves logs: they continue the place before, and the record that was agreed on at their end. Where they don't, or
 * nodes contradict each other, each node is asked: one whose logs do not make the record is refuted, and has no say.
 * @param seen logs of these blocks that were read by their hashes before: none may be missing
 * @throws UndecidedError; ChainUnavailableError where no node's logs make the record
 */
export async function prove(
  chain: EvmChain,
  before: Place,
  { from, to, range, record, foldedHash }: FetchedRange,
  { nodes = 2, seen }: { nodes?: number; seen?: ConfirmedRange } = {},
): Promise<ProvedRange> {
  const isProved = isProvable(chain) && foldedHash === undefined
  const isAttached = (read: ConfirmedRange): boolean =>
    (!before.lastHash || read.parentHash.equals(before.lastHash)) &&
    (!foldedHash || read.lastHash.equals(foldedHash))
  const assertPlace = (read: ConfirmedRange): ConfirmedRange => {
    if (!isAttached(read))
      throw new ContradictingError(`a node is on another fork at blocks ${from}-${to}`)
    if (!makesRecord(before, read, record)) {
      const message = `the logs of blocks ${from}-${to} do not make the contracts' record`
      throw isProved ? new RefutedError(message) : new ContradictingError(message)
    }
    const places = new Set(read.decoded.places)
    const missing = seen?.decoded.places.find((place) => !places.has(place))
    if (missing && !isProvable(chain))
      throw new LackingError(
        `a node leaves out a log that was read by its block's hash: ${missing}`,
      )
    return read
  }
  const isAgreed = range !== null && isAttached(range) && makesRecord(before, range, record)
  const ask = async (call: Call, first = isProved ? seen : undefined) =>
    assertPlace(
      first && isProved && makesRecord(before, first, record)
        ? await readAgain(call, chain, first)
        : await readInParts(call, chain, { from, to, isHinted: false }),
    )
  const agreed = isAgreed
    ? { answer: range, nodes: range.nodes }
    : await chain.rpc.agreed(ask, {
        // blocks of the tail that only a later record proves are read whole by each node
        least: seen && !isProved ? () => nodes : leastOf(chain, nodes),
        isProved,
      })
  const recordNodes = record?.nodes ?? agreed.nodes
  const counted = isProvable(chain) ? recordNodes : Math.min(agreed.nodes, recordNodes)
  return {
    ...agreed.answer,
    record: record?.answer ?? [],
    ground: groundOf(chain, counted),
  }
}

/** Running hashes at the ends of ranges, which one that was agreed on near the head proves. */
export type KnownRecords = ReadonlyMap<number, Agreed<ChainRecord>>

/**
 * Folds a chain's logs from a place on, without keeping them, up to a block whose record was agreed on: nodes without
 * old state prove a catch-up by the newest. The running hashes between are known then.
 * @param least nodes that have to give the blocks that have logs
 * @throws RefutedError where the logs do not make it: the nodes that gave them are asked after others
 */
export async function foldTo(
  chain: EvmChain,
  before: Place,
  blocks: { from: number; confirmed: number; width: RangeWidth; isHinted: boolean },
  top: RecordBlock & { record: Agreed<ChainRecord> },
  least: number,
  onRange: () => void,
): Promise<KnownRecords> {
  const known = new Map<number, Agreed<ChainRecord>>()
  const hosts = new Set<string>()
  const { from, confirmed, width, isHinted } = blocks
  const { answer: agreed, nodes } = top.record
  let { lastHash } = before
  let running: Agreed<ChainRecord> = { answer: before.record, nodes }

  const source = rangesOf(chain, width, least, isHinted)
  const noted: typeof source = {
    ...source,
    read: async (call, first, last, other, host) => {
      const range = await source.read(call, first, last, other)
      if (!other && host) hosts.add(host)
      return range
    },
  }
  // two nodes: a log that one moves to a later block would be missing before it
  const read = (first: number, last: number) => inRanges(noted, first, last)
  const ahead = rangesAhead({ from, to: top.number, width, cuts: [confirmed] }, read)
  for await (const range of ahead) {
    onRange()
    if (lastHash && !range.parentHash.equals(lastHash))
      throw transient(
        `getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`,
      )
    // ranges without logs, which may be 100,000s, share one record
    if (range.decoded.record.length > 0)
      running = { answer: foldRecord(running.answer, range.decoded.record), nodes }
    lastHash = range.lastHash
    known.set(range.to, running)
  }
  if (!lastHash?.equals(fromHex(top.hash)))
    throw transient(`block ${top.number} has been replaced since its record was read`)
  if (isDeepStrictEqual(running.answer, agreed)) return known
  const error = new RefutedError(unrecorded(chain, top.number))
  chain.rpc.refute(hosts, error)
  throw error
}
