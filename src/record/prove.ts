import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { ChainUnavailableError } from '../chains/chain.js'
import type { EvmChain } from '../chains/evm/chain.js'
import type { DecodedLogs } from '../chains/evm/decodeLogs.js'
import { getHeader } from '../chains/evm/logs.js'
import {
  type ChainRecord,
  foldRecord,
  type RecordBlock,
  readRecord,
  recordKeepers,
  unpackRecord,
} from '../chains/evm/record.js'
import { ContradictingError, RefutedError, RpcError, transientError } from '../chains/rpc/errors.js'
import { type Agreement, DisagreementError, SilenceError } from '../chains/rpc/nodes.js'
import type { ChainRow } from '../db/journal/chains.js'
import type { TrustGround } from '../ops/chainState.js'
import { orIf } from '../ops/log/errors.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import {
  type ConfirmedRange,
  inRanges,
  isProvable,
  type RangeSource,
  rangesAhead,
  rangesOf,
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
export type ProvedRange = ConfirmedRange & Place & { lastHash: Buffer; ground: TrustGround }

export const keepsRecord = ({ config }: EvmChain): boolean => recordKeepers(config).length > 0

/** Ground of logs. Where two nodes are configured, one proves nothing. */
export function groundOf(chain: EvmChain, nodes: number): TrustGround {
  const isEnough = nodes >= Math.min(2, chain.config.rpcUrls.length)
  if (isProvable(chain) && isEnough) return { trust: 'proved', nodes }
  return { trust: nodes > 1 ? 'compared' : 'trusted', nodes }
}

/** Sentence for logs in the journal that are not the contracts'. */
export const unrecorded = ({ config }: EvmChain, block: number): string =>
  `the logs of chain "${config.label}" up to block ${block} do not make its contracts' record: \`startBlock\` is behind the first of them, or a node left some out; \`clusterd journal rewind --chain ${config.label} --block ${config.startBlock}\` with another node brings them in`

/**
 * Record that a chain's contracts keep as of a block: equal by two nodes where two are configured.
 * @throws UndecidedError, ChainUnavailableError where it is not known
 */
export async function recordAt(
  { rpc, config }: EvmChain,
  { hash, number }: RecordBlock,
  least = 2,
): Promise<Agreement<ChainRecord>> {
  try {
    return await rpc.agreed((call) => readRecord(call, config, fromHex(hash), number), { least })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    throw new SilenceError(
      `chain "${config.label}": its contracts' record at block ${number} can't be read: ${error.message}`,
      { cause: error },
    )
  }
}

/** As `recordAt`; null where it is not known, which may be known at another block. @throws DisagreementError */
export const knownRecordAt = (
  chain: EvmChain,
  block: RecordBlock,
  nodes?: number,
): Promise<Agreement<ChainRecord> | null> => orIf(recordAt(chain, block, nodes), isUnknown, null)

const isUnknown = (error: unknown): boolean =>
  error instanceof ChainUnavailableError && !(error instanceof DisagreementError)

/**
 * Place of a chain's checkpoint, with the ground of the record there where nodes gave it. The record was stored with the
 * checkpoint; a contract that was named later begins at its own. A hub's is zero before its first block, so logs before
 * `startBlock` show.
 * @throws Error where the contracts contradict what is stored; DisagreementError, ChainUnavailableError
 */
export async function placeOf(
  chain: EvmChain,
  { parentHash, nextBlock, record }: ChainRow,
): Promise<{ place: Place; ground: TrustGround | null }> {
  const { config, rpc } = chain
  const keepers = recordKeepers(config)
  const number = nextBlock - 1
  const isAsked = keepers.length > 0 && number >= 0
  const header =
    isAsked && !parentHash ? await rpc.onOneNode((call) => getHeader(call, number)) : null
  const hash = parentHash ? toHex(parentHash) : header?.hash
  const own = isAsked && hash ? await knownRecordAt(chain, { number, hash }) : null
  const stored = parentHash ? unpackRecord(config, parentHash, record) : []
  const zero = Buffer.alloc(32)
  const hashes = keepers.map(({ kind }, i) => {
    const known = stored[i] ?? (!parentHash && kind === 'hub' ? zero : null)
    if (known && own && !own.answer[i]!.equals(known)) throw new Error(unrecorded(chain, number))
    return known ?? own?.answer[i] ?? null
  })
  const unknown = keepers[hashes.indexOf(null)]
  if (unknown?.kind === 'hub')
    throw transientError(`the hub's record can't be read at block ${number}`)
  return {
    // a payments contract whose record nobody has there was deployed later, or its next record differs
    place: { lastHash: parentHash, record: hashes.map((one) => one ?? zero) },
    ground: own && groundOf(chain, own.nodes),
  }
}

/** Record behind some logs, on the clock of the chain's loop. */
export const foldedRecord = (
  { stages }: EvmChain,
  before: ChainRecord,
  { record }: Pick<DecodedLogs, 'record'>,
): ChainRecord => stages.work('decode', () => foldRecord(before, record))

/** @throws RpcError where logs do not lead from one record to the other: their node is refuted, where that proves all */
function assertMakes(
  chain: EvmChain,
  before: ChainRecord,
  { from, to, decoded }: ConfirmedRange,
  after: ChainRecord,
): void {
  if (isDeepStrictEqual(foldedRecord(chain, before, decoded), after)) return
  const message = `the logs of blocks ${from}-${to} do not make the contracts' record`
  throw isProvable(chain) ? new RefutedError(message) : new ContradictingError(message)
}

/** A range whose logs make the record at its end; without it where nodes no longer know that, or the chain keeps none. */
export type CheckedRange = ConfirmedRange & { record: Agreement<ChainRecord> | null }

/** @throws RpcError where the chain keeps a record and that is not known */
export function provedRange(chain: EvmChain, range: CheckedRange & { nodes: number }): ProvedRange {
  const { from, to, record } = range
  if (!record && keepsRecord(chain))
    throw transientError(`the record of blocks ${from}-${to} is not known`)
  const recordNodes = record?.nodes ?? range.nodes
  const nodes = isProvable(chain) ? recordNodes : Math.min(range.nodes, recordNodes)
  return { ...range, record: record?.answer ?? [], ground: groundOf(chain, nodes) }
}

/** Records at the ends of ranges, with the blocks' hashes. */
export type KnownRecords = ReadonlyMap<number, { hash: Buffer; record: Agreement<ChainRecord> }>

/** Records that were asked for: more than ranges are read at once, in a catch-up of 100,000s. */
const RECORDS_KEPT = 64

/** Where ranges begin, and what is known of the blocks behind. */
interface RangesStart {
  from: number
  /** Before block `from`. */
  before: Place
  /** Records that are not asked for. */
  known: KnownRecords
  /** Nodes that have to give equal answers. */
  nodes: number
}

/**
 * Source of a chain's confirmed logs, each node's checked by the records at both ends. What the times in the logs do
 * not make, those of the headers may.
 */
export function checkedRanges(
  chain: EvmChain,
  width: RangeWidth,
  { from: start, before, known, nodes }: RangesStart,
): RangeSource<CheckedRange> {
  const source = rangesOf(chain, width, { nodes })
  const timed = rangesOf(chain, width, { nodes, isHinted: false })
  const asked = new LRUCache<string, ReturnType<typeof knownRecordAt>>({ max: RECORDS_KEPT })

  /** Once for both ranges that meet at a block. */
  const recordBehind = async (number: number, lastHash: Buffer) => {
    const one = known.get(number)
    if (one?.hash.equals(lastHash)) return one.record
    const hash = toHex(lastHash)
    const record = asked.get(hash) ?? knownRecordAt(chain, { number, hash }, nodes)
    asked.set(hash, record)
    return record
  }

  const readBy =
    ({ read }: typeof source): RangeSource<CheckedRange>['read'] =>
    async (call, from, to, first) => {
      const range = await read(call, from, to, first)
      if (first && range === first) return first
      if (!keepsRecord(chain)) return { ...range, record: null }
      const own = from === start ? null : await recordBehind(from - 1, range.parentHash)
      const earlier = from === start ? before.record : own?.answer
      const record = await recordBehind(to, range.lastHash)
      if (!earlier || !record) return { ...range, record: null }
      assertMakes(chain, earlier, range, record.answer)
      return { ...range, record }
    }

  return {
    ...source,
    async read(...question) {
      try {
        return await readBy(source)(...question)
      } catch (error) {
        if (!(error instanceof RefutedError)) throw error
        return readBy(timed)(...question)
      }
    },
  }
}

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
  top: RecordBlock & { record: Agreement<ChainRecord> },
  least: number,
  onRange: () => void,
): Promise<KnownRecords> {
  const known = new Map<number, { hash: Buffer; record: Agreement<ChainRecord> }>()
  const hosts = new Set<string>()
  const { from, confirmed, width, isHinted } = blocks
  const { answer: agreed, nodes } = top.record
  let { lastHash } = before
  let running: Agreement<ChainRecord> = { answer: before.record, nodes }

  const source = rangesOf(chain, width, { nodes: least, isHinted })
  const noted: typeof source = {
    ...source,
    read: async (call, first, last, other, host) => {
      if (!other && host) hosts.add(host)
      return source.read(call, first, last, other)
    },
  }
  // two nodes: a log that one moves to a later block would be missing before it
  const read = (first: number, last: number) => inRanges(noted, first, last)
  const ahead = rangesAhead({ from, to: top.number, width, cuts: [confirmed] }, read)
  for await (const range of ahead) {
    onRange()
    if (lastHash && !range.parentHash.equals(lastHash))
      throw transientError(
        `getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`,
      )
    // ranges without logs, which may be 100,000s, share one record
    if (range.decoded.record.length > 0)
      running = { answer: foldedRecord(chain, running.answer, range.decoded), nodes }
    lastHash = range.lastHash
    known.set(range.to, { hash: lastHash, record: running })
  }
  if (!lastHash?.equals(fromHex(top.hash)))
    throw transientError(`block ${top.number} has been replaced since its record was read`)
  if (isDeepStrictEqual(running.answer, agreed)) return known
  const error = new RefutedError(unrecorded(chain, top.number))
  chain.rpc.refute(hosts, error)
  throw error
}
