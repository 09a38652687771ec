import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { ChainUnavailableError } from '../chains/chain.js'
import type { EvmChain } from '../chains/evm/chain.js'
import type { DecodedLogs } from '../chains/evm/decodeLogs.js'
import { getBlockHeader } from '../chains/evm/logs.js'
import {
  type BlockNumberAndHash,
  contractsWithRunningHash,
  decodeRunningHashes,
  extendRunningHashes,
  type RunningHashes,
  readRunningHashes,
} from '../chains/evm/record.js'
import {
  ContradictingNodeError,
  RefutedAnswerError,
  RpcError,
  transientError,
} from '../chains/rpc/errors.js'
import { type AgreedAnswer, NodesDisagreeError, NodesSilentError } from '../chains/rpc/nodes.js'
import type { ChainRow } from '../db/journal/chains.js'
import type { LogTrustBasis } from '../ops/chainState.js'
import { fallbackOnExpectedError } from '../ops/log/errors.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import {
  type BlockRangeSource,
  type ConfirmedLogRange,
  isCoveredByRunningHash,
  logRangeSource,
  readBlocksInRanges,
  readRangesAhead,
} from './ranges.js'
import type { LogRangeWidth } from './width.js'

/** Where the next range of confirmed logs has to attach: the last confirmed block, and the running hashes after it. */
export interface LastConfirmedHashes {
  /** Hash of the last confirmed block; null before the first block. */
  lastHash: Buffer | null
  /** Running hashes over all logs so far. */
  record: RunningHashes
}

/** Confirmed logs, with the block and the running hashes at their end, and how far they can be trusted (`ground`). */
export type ProvedLogRange = ConfirmedLogRange &
  LastConfirmedHashes & { lastHash: Buffer; ground: LogTrustBasis }

export const hasRunningHashes = ({ config }: EvmChain): boolean =>
  contractsWithRunningHash(config).length > 0

/**
 * How far a range of logs can be trusted: whether a record (running hash) covers the chain's logs, and how many nodes
 * agreed. If two nodes are configured, the answer of one node proves nothing.
 */
export function trustBasisOfRange(chain: EvmChain, nodes: number): LogTrustBasis {
  const isEnough = nodes >= Math.min(2, chain.config.rpcUrls.length)
  if (isCoveredByRunningHash(chain) && isEnough) return { trust: 'proved', nodes }
  return { trust: nodes > 1 ? 'compared' : 'trusted', nodes }
}

/** Error message for logs in the journal that differ from the contracts' record (running hashes). */
export const runningHashMismatchText = ({ config }: EvmChain, block: number): string =>
  `the logs of chain "${config.label}" up to block ${block} do not make its contracts' record: \`startBlock\` is behind the first of them, or a node left some out; \`clusterd journal rewind --chain ${config.label} --block ${config.startBlock}\` with another node brings them in`

/**
 * Reads the record (running hashes of logs) that a chain's contracts keep, as of a block. Where two nodes are
 * configured, two have to return equal records.
 * @throws NoQuorumError, ChainUnavailableError where the record is not known
 */
export async function readAgreedRunningHashes(
  { rpc, config }: EvmChain,
  { hash, number }: BlockNumberAndHash,
): Promise<AgreedAnswer<RunningHashes>> {
  try {
    return await rpc.agreed((call) => readRunningHashes(call, config, fromHex(hash), number), {
      about: `the running hash of block ${number}`,
    })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    throw new NodesSilentError(
      `chain "${config.label}": its contracts' record at block ${number} can't be read: ${error.message}`,
      { cause: error },
    )
  }
}

/**
 * Like `readAgreedRunningHashes`, but null where nodes do not return the record of this block. They may return the
 * record of another block.
 * @throws NodesDisagreeError
 */
export const readAgreedRunningHashesOrNull = (
  chain: EvmChain,
  block: BlockNumberAndHash,
): Promise<AgreedAnswer<RunningHashes> | null> =>
  fallbackOnExpectedError(readAgreedRunningHashes(chain, block), isUnknown, null)

const isUnknown = (error: unknown): boolean =>
  error instanceof ChainUnavailableError && !(error instanceof NodesDisagreeError)

/**
 * Last block and record (running hashes) at a chain's checkpoint, and how far nodes confirm the record: null where they
 * no longer return it. The record was stored with the checkpoint. A contract that was configured later starts with the
 * record that the nodes return. A hub's record is zero before its first block, so a hub with logs before `startBlock`
 * is detected. `place` is null where neither the database nor the nodes have the record: after a rewind to a block whose
 * state the nodes have pruned.
 * @throws Error where the contracts contradict the stored record; NodesDisagreeError, ChainUnavailableError
 */
export async function readLastConfirmedHashes(
  chain: EvmChain,
  { parentHash, nextBlock, record }: ChainRow,
): Promise<{ place: LastConfirmedHashes | null; ground: LogTrustBasis | null }> {
  const { config, rpc } = chain
  const contracts = contractsWithRunningHash(config)
  const number = nextBlock - 1
  const isAsked = contracts.length > 0 && number >= 0
  const header =
    isAsked && !parentHash ? await rpc.onOneNode((call) => getBlockHeader(call, number)) : null
  const hash = parentHash ? toHex(parentHash) : header?.hash
  const own = isAsked && hash ? await readAgreedRunningHashesOrNull(chain, { number, hash }) : null
  const stored = parentHash ? decodeRunningHashes(config, parentHash, record) : []
  const zero = Buffer.alloc(32)
  const hashes = contracts.map(({ kind }, i) => {
    const known = stored[i] ?? (!parentHash && kind === 'hub' ? zero : null)
    if (known && own && !own.answer[i]!.equals(known))
      throw new Error(runningHashMismatchText(chain, number))
    return known ?? own?.answer[i] ?? null
  })
  // a stored record that has none of the contracts is of another block: the chain was rewound
  const isRewound = contracts.length > 0 && parentHash && record && hashes.every((one) => !one)
  if (isRewound || contracts[hashes.indexOf(null)]?.kind === 'hub')
    return { place: null, ground: null }
  return {
    // a payments contract whose record no node returns counts as zero: it is deployed later, or the next range will not
    // match
    place: { lastHash: parentHash, record: hashes.map((one) => one ?? zero) },
    ground: own && trustBasisOfRange(chain, own.nodes),
  }
}

/** Extends a record (running hashes) by logs, and measures the time as the `decode` stage of the chain's loop. */
export const runningHashesAfterLogs = (
  { stages }: EvmChain,
  before: RunningHashes,
  { record }: Pick<DecodedLogs, 'record'>,
): RunningHashes => stages.work('decode', () => extendRunningHashes(before, record))

/**
 * Checks that the record `before`, extended by the range's logs, equals the record `after`. @throws RpcError where it
 * does not. If the record covers all logs of the chain, the node is proven wrong (RefutedAnswerError).
 */
function assertMakes(
  chain: EvmChain,
  before: RunningHashes,
  { from, to, decoded }: ConfirmedLogRange,
  after: RunningHashes,
): void {
  if (isDeepStrictEqual(runningHashesAfterLogs(chain, before, decoded), after)) return
  const message = `the logs of blocks ${from}-${to} do not make the contracts' record`
  throw isCoveredByRunningHash(chain)
    ? new RefutedAnswerError(message)
    : new ContradictingNodeError(message)
}

/**
 * A range whose logs match the contracts' record (running hashes) at its end. `record` is null where nodes no longer
 * return it, or the chain has none.
 */
export type RangeWithCheckedHashes = ConfirmedLogRange & {
  record: AgreedAnswer<RunningHashes> | null
}

/**
 * Adds to a range how far it can be trusted.
 * @throws RpcError where the running hashes of the chain's contracts are not known
 */
export function provedRangeOf(
  chain: EvmChain,
  range: RangeWithCheckedHashes & { nodes: number },
): ProvedLogRange {
  const { from, to, record } = range
  if (!record && hasRunningHashes(chain))
    throw transientError(`the record of blocks ${from}-${to} is not known`)
  const recordNodes = record?.nodes ?? range.nodes
  const nodes = isCoveredByRunningHash(chain) ? recordNodes : Math.min(range.nodes, recordNodes)
  return { ...range, record: record?.answer ?? [], ground: trustBasisOfRange(chain, nodes) }
}

/** Records (running hashes) at the ends of ranges, by the number of a range's last block, with that block's hash. */
export type KnownRunningHashes = ReadonlyMap<
  number,
  { hash: Buffer; record: AgreedAnswer<RunningHashes> }
>

/**
 * Number of cached records (running hashes): more than the ranges that are read at once. A catch-up reads some 100,000
 * ranges.
 */
const RECORDS_KEPT = 64

/** Start of a series of ranges, and the records (running hashes) that are already known. */
interface RangesStart {
  from: number
  /** Last block before `from`, and the contracts' running hashes as of that block. */
  before: LastConfirmedHashes
  /** Records that need not be read from nodes. */
  known: KnownRunningHashes
}

/**
 * Source of a chain's confirmed logs. Each node's logs are checked against the records (running hashes) at both ends of
 * the range. If the times in the logs do not match the record, the range is read again with the times in the headers.
 */
export function checkedLogRangeSource(
  chain: EvmChain,
  width: LogRangeWidth,
  { from: start, before, known }: RangesStart,
): BlockRangeSource<RangeWithCheckedHashes> {
  const source = logRangeSource(chain, width)
  const timed = logRangeSource(chain, width, false)
  const asked = new LRUCache<string, ReturnType<typeof readAgreedRunningHashesOrNull>>({
    max: RECORDS_KEPT,
  })

  /** The record after a block, read once for both ranges that meet there. */
  const recordBehind = async (number: number, lastHash: Buffer) => {
    const one = known.get(number)
    if (one?.hash.equals(lastHash)) return one.record
    const hash = toHex(lastHash)
    const record = asked.get(hash) ?? readAgreedRunningHashesOrNull(chain, { number, hash })
    asked.set(hash, record)
    return record
  }

  const readBy =
    ({ read }: typeof source): BlockRangeSource<RangeWithCheckedHashes>['read'] =>
    async (call, from, to, first) => {
      const range = await read(call, from, to, first)
      if (first && range === first) return first
      if (!hasRunningHashes(chain)) return { ...range, record: null }
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
        if (!(error instanceof RefutedAnswerError)) throw error
        return readBy(timed)(...question)
      }
    },
  }
}

/**
 * Reads a chain's logs from a block on without storing them, up to a block whose record was agreed on. It is for
 * nodes that have pruned old state: they return only the contract's newest running hash of its logs (its record), which
 * proves all logs up to its block at once. Afterwards the running hash of each block with logs is known.
 * @throws RefutedAnswerError where the logs do not match the record; the nodes that returned them are then asked last
 */
export async function proveLogsUpTo(
  chain: EvmChain,
  before: LastConfirmedHashes,
  blocks: { from: number; confirmed: number; width: LogRangeWidth; isHinted: boolean },
  top: BlockNumberAndHash & { record: AgreedAnswer<RunningHashes> },
  onRange: () => void,
): Promise<KnownRunningHashes> {
  const known = new Map<number, { hash: Buffer; record: AgreedAnswer<RunningHashes> }>()
  const hosts = new Set<string>()
  const { from, confirmed, width, isHinted } = blocks
  const { answer: agreed } = top.record
  let { lastHash } = before
  let running = top.record.map(() => before.record)

  const source = logRangeSource(chain, width, isHinted)
  const noted: typeof source = {
    ...source,
    read: async (call, first, last, other, host) => {
      if (!other && host) hosts.add(host)
      return source.read(call, first, last, other)
    },
  }
  // asks two nodes: if one node moved a log to a later block, the log would be missing in its real block
  const read = (first: number, last: number) => readBlocksInRanges(noted, first, last)
  const ahead = readRangesAhead({ from, to: top.number, width, cuts: [confirmed] }, read)
  for await (const range of ahead) {
    onRange()
    if (lastHash && !range.parentHash.equals(lastHash))
      throw transientError(
        `getting logs of blocks ${range.from}-${range.to}: a node answered from another fork`,
      )
    // consecutive ranges without logs, up to some 100,000, share one record object
    if (range.decoded.record.length > 0)
      running = running.map((hashes) => runningHashesAfterLogs(chain, hashes, range.decoded))
    lastHash = range.lastHash
    known.set(range.to, { hash: lastHash, record: running })
  }
  if (!lastHash?.equals(fromHex(top.hash)))
    throw transientError(`block ${top.number} has been replaced since its record was read`)
  if (isDeepStrictEqual(running.answer, agreed)) return known
  const error = new RefutedAnswerError(runningHashMismatchText(chain, top.number))
  chain.rpc.refute(hosts, error)
  throw error
}
