import { isDeepStrictEqual } from 'node:util'
import { errorSentence, fallbackOnExpectedError } from '../../../ops/log/errors.js'
import type { DecodedEntry } from '../../../registry/journal/decode.js'
import { fromHex, toHex } from '../../../registry/primitives/bytes.js'
import type { Hex } from '../../chain.js'
import { mapInBatches } from '../../rpc/batches.js'
import { errorWithCauses, MissingDataError, RpcError, transientError } from '../../rpc/errors.js'
import { type EvmRpc, parseQuantity } from '../../rpc/evm.js'
import { type AgreedAnswer, NodesDisagreeError, type RpcCall } from '../../rpc/nodes.js'
import type { EvmChain } from '../chain.js'
import {
  blockNumbersOfLogs,
  type DecodedLogs,
  decodedLogCount,
  decodeLogs,
  logFilterOfContracts,
} from '../decodeLogs.js'
import {
  assertHeadersLinked,
  type BlockHeader,
  getBlockHeader,
  getBlockLogs,
  type LogRange,
  type RawLog,
  readLogsOfRange,
} from '../logs.js'
import { configuredMinimumBids, minimumBidEntries } from '../minima.js'
import { type BlockNumberAndHash, contractsWithRunningHash } from './hashes.js'
import type { LogRangeWidth } from './width.js'

export interface ConfirmedLogRange {
  from: number
  to: number
  decoded: DecodedLogs
  /** Hash of block `from` - 1, taken from the header of block `from`. */
  parentHash: Buffer
  lastHash: Buffer
}

/** How the logs of ranges of blocks are read, and from how many nodes. */
export interface BlockRangeSource<Range> {
  rpc: EvmRpc
  width: LogRangeWidth
  /** @param first answer of another node, if there is one @throws RpcError */
  read(call: RpcCall, from: number, to: number, first?: Range): Promise<Range>
  /**
   * For ranges that the contracts' running hashes prove: called for a range that all nodes but one gave wrongly.
   * @throws RpcError where the range may not be accepted
   */
  proveOnly?(range: AgreedAnswer<Range>): Promise<void>
  /** Number of logs in a range. */
  sizeOf(range: Range): number
}

/**
 * Checks that a block is on the chain: two nodes return its hash for its number, where two are configured.
 * @throws NodesDisagreeError, ChainUnavailableError; RpcError transient where two nodes have another block there
 */
export async function assertCanonical(
  { rpc }: Pick<EvmChain, 'rpc'>,
  { number, hash }: BlockNumberAndHash,
): Promise<void> {
  const read = async (call: RpcCall): Promise<Hex> => {
    const header = await getBlockHeader(call, number)
    if (!header)
      throw new MissingDataError(`eth_getBlockByNumber: the node does not have block ${number}`)
    return header.hash
  }
  const { answer } = await rpc.agreed(read, { about: `the hash of block ${number}` })
  if (answer !== hash) throw transientError(`block ${number} is ${answer}, and no longer ${hash}`)
}

/** Where a range's logs are those of one node, since all others' were refuted, two nodes have to have its last block. */
export async function proveOnlyRange(
  chain: Pick<EvmChain, 'rpc'>,
  { answer: { to, lastHash }, nodes }: AgreedAnswer<ConfirmedLogRange>,
): Promise<void> {
  if (nodes < chain.rpc.needed) await assertCanonical(chain, { number: to, hash: toHex(lastHash) })
}

/** Maximum number of logs in a range. One transaction writes a range. */
const MOST_LOGS = 10_000

const isTooMuch = (error: unknown): boolean =>
  error instanceof RpcError && error.fault === 'too_much'

/** True if a smaller range would not help: a node asked to wait, or nodes contradict each other. */
const isOfNodes = (error: unknown): boolean =>
  error instanceof NodesDisagreeError ||
  errorWithCauses(error).some((one) => one instanceof RpcError && one.fault === 'rate_limited')

/**
 * Reads blocks `from` to `to`, from two nodes where two are configured. A range that is too large is halved.
 * @returns consecutive ranges
 * @throws Error whose cause is an NoQuorumError, ChainUnavailableError or RpcError
 */
export async function readBlocksInRanges<Range>(
  source: BlockRangeSource<Range>,
  from: number,
  to: number,
): Promise<AgreedAnswer<Range>[]> {
  const { rpc, width, read, proveOnly, sizeOf } = source
  try {
    const range = await rpc.agreed<Range>((call, first) => read(call, from, to, first), {
      isProved: proveOnly !== undefined,
    })
    await proveOnly?.(range)
    const logs = sizeOf(range.answer)
    if (logs > MOST_LOGS && from < to) throw new RpcError('too_much', `${logs} logs`)
    width.answered(to - from + 1, logs)
    return [range]
  } catch (error) {
    if (!isTooMuch(error) || from === to) {
      if (!isOfNodes(error)) width.failed(to - from + 1)
      throw new Error(`getting logs of blocks ${from}-${to}: ${errorSentence(error)}`, {
        cause: error,
      })
    }
    width.tooMuch(to - from + 1)
    const middle = Math.floor((from + to) / 2)
    return [
      ...(await readBlocksInRanges(source, from, middle)),
      ...(await readBlocksInRanges(source, middle + 1, to)),
    ]
  }
}

/** Number of ranges that are read before the consumer needs them: enough to hide round trips, few enough for memory. */
const RANGES_AHEAD = 3

/**
 * Reads blocks `from` to `to` in consecutive ranges. `width` may change between two ranges.
 * @param cuts blocks, ascending, at which a range has to end
 */
export async function* readRangesAhead<T>(
  { from, to, width, cuts = [] }: BlockRangeToRead,
  read: (from: number, to: number) => Promise<T[]>,
): AsyncGenerator<T> {
  const ahead: Promise<T[]>[] = []
  let next = from
  let cutAt = 0
  let done = false
  while (!done) {
    while (ahead.length < RANGES_AHEAD && next <= to) {
      const first = next
      while (cutAt < cuts.length && cuts[cutAt]! < first) cutAt += 1
      const cut = cuts[cutAt] ?? to
      const last = Math.min(to, cut, first + width.blocks - 1)
      const asked = read(first, last)
      // the promise is awaited later, in order: until then its failure must not be an unhandled rejection
      asked.catch(() => {})
      ahead.push(asked)
      next = last + 1
    }
    const ranges = await ahead.shift()
    if (ranges) yield* ranges
    done = ranges === undefined
  }
}

export interface BlockRangeToRead {
  from: number
  to: number
  width: LogRangeWidth
  cuts?: readonly number[]
}

/** True if the contracts' running hashes cover all logs of a chain. No running hash covers a spoke's messages. */
export const isCoveredByRunningHash = ({ config }: EvmChain): boolean =>
  config.role === 'hub' && contractsWithRunningHash(config).length > 0

/**
 * Source of a chain's confirmed logs. Where the running hash of the logs, which the contracts keep, proves that no
 * other block has logs, the second node is asked only for the blocks in which the first node has logs.
 * @param isHinted true if block times may come from an optional field of the logs. It is allowed where the running hash
 * includes the times.
 */
export const logRangeSource = (
  chain: EvmChain,
  width: LogRangeWidth,
  isHinted = isCoveredByRunningHash(chain),
): BlockRangeSource<ConfirmedLogRange> => ({
  rpc: chain.rpc,
  width,
  async read(call, from, to, first) {
    const readOwn = () => readRange(call, chain, { from, to, isHinted })
    if (!first || !isCoveredByRunningHash(chain)) return readOwn()
    const isDense = blockNumbersOfLogs(first.decoded).length > BY_HASH_BLOCKS
    const whole = isDense ? await fallbackOnExpectedError(readOwn(), isTooMuch, null) : null
    const isEqual = whole?.lastHash.equals(first.lastHash)
    if (isEqual && isDeepStrictEqual(whole?.decoded, first.decoded)) return first
    return (await hasSameLogs(call, chain, first)) ? first : (whole ?? readOwn())
  },
  sizeOf: ({ decoded }) => decodedLogCount(decoded),
  ...(isCoveredByRunningHash(chain) && { proveOnly: (range) => proveOnlyRange(chain, range) }),
})

/** Decodes a chain's logs, and measures the time as the `decode` stage of the chain's loop. @throws RpcError */
export const decodeChainLogs = (
  call: RpcCall,
  { config, chain, stages }: EvmChain,
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): Promise<DecodedLogs> =>
  stages.work('decode', () => decodeLogs(call, { ...config, chain }, logs, timeOf))

interface RangeQuestion {
  from: number
  to: number
  isHinted: boolean
}

/**
 * Ranges up to this number of blocks are read by block hash, so that a lagging node behind a load balancer can't omit
 * a block.
 */
const BY_HASH_BLOCKS = 8

/**
 * Reads the logs of a range by block number. Up to `BY_HASH_BLOCKS` blocks are read by hash, unless block times may
 * come from the logs (`isHinted`).
 * @throws RpcError
 */
async function readRange(
  call: RpcCall,
  chain: EvmChain,
  { from, to, isHinted }: RangeQuestion,
): Promise<ConfirmedLogRange> {
  const { config } = chain
  const isFew = !isHinted && to - from < BY_HASH_BLOCKS
  const blocks = Array.from({ length: isFew ? to - from + 1 : 0 }, (_, i) => from + i)
  const { logs, first, last, timeOf } = isFew
    ? await readBlocks(call, chain, blocks)
    : await readByNumber(call, chain, { from, to, isHinted })
  const decoded = await decodeChainLogs(call, chain, logs, timeOf)
  const beginning = await minimumHeaders(call, config, from, to)
  const configured = beginning.flatMap((header) => minimumBidEntries(chain, header))
  if (configured.length > 0) decoded.entries = [...configured, ...decoded.entries].sort(byPosition)
  const parentHash = fromHex(first.parentHash)
  return { from, to, decoded, parentHash, lastHash: fromHex(last.hash) }
}

/** Logs with the times of their blocks. */
type TimedLogs = LogRange & { timeOf: (log: RawLog) => number }

async function readByNumber(
  call: RpcCall,
  { config }: EvmChain,
  { from, to, isHinted }: RangeQuestion,
): Promise<TimedLogs> {
  const read = await readLogsOfRange(call, logFilterOfContracts(config), from, to)
  return { ...read, timeOf: await timesOf(call, read, isHinted) }
}

/**
 * True if the called node has the last block of another node's range, and equal logs in the blocks in which that range
 * has logs. @throws RpcError
 */
export async function hasSameLogs(
  call: RpcCall,
  chain: EvmChain,
  { decoded, to, lastHash }: ConfirmedLogRange,
): Promise<boolean> {
  const [last, { logs, timeOf }] = await Promise.all([
    getBlockHeader(call, to),
    readBlocks(call, chain, blockNumbersOfLogs(decoded)),
  ])
  const own = await decodeChainLogs(call, chain, logs, timeOf)
  return last?.hash === toHex(lastHash) && isDeepStrictEqual(own, decoded)
}

/** Logs of some blocks, by the hashes that the same node returns for them. @throws RpcError */
async function readBlocks(
  call: RpcCall,
  { config }: EvmChain,
  blocks: readonly number[],
): Promise<TimedLogs> {
  const filter = logFilterOfContracts(config)
  const read = await mapInBatches(blocks, BY_HASH_BLOCKS, async (block) => {
    const header = await getBlockHeader(call, block)
    if (!header)
      throw new MissingDataError(`eth_getBlockByNumber: the node does not have block ${block}`)
    return { header, logs: await getBlockLogs(call, filter, header) }
  })
  const headers = read.map(({ header }) => header)
  assertHeadersLinked(headers)
  const timeByBlock = new Map(headers.map(({ number, timestampMs }) => [number, timestampMs]))
  return {
    logs: read.flatMap(({ logs }) => logs),
    first: headers[0]!,
    last: headers.at(-1)!,
    timeOf: ({ blockNumber }: RawLog) => timeByBlock.get(Number(blockNumber))!,
  }
}

/** Headers of the blocks in a range from which a configured minimum bid holds. */
async function minimumHeaders(
  call: RpcCall,
  config: EvmChain['config'],
  from: number,
  to: number,
): Promise<BlockHeader[]> {
  const blocks = [...configuredMinimumBids(config).keys()].filter(
    (block) => block >= from && block <= to,
  )
  const headers = await Promise.all(blocks.map((block) => getBlockHeader(call, block)))
  if (headers.includes(null))
    throw transientError(`eth_getBlockByNumber: a block of ${from}-${to} is missing`)
  return headers.filter((header) => header !== null)
}

const byPosition = (a: DecodedEntry, b: DecodedEntry): number =>
  a.position!.block - b.position!.block || a.position!.logIndex - b.position!.logIndex

/** Number of block headers that are read in parallel. */
const CHUNK_BLOCKS = 32

/** Times of the logs' blocks, from their headers, or from the logs where `isHinted` allows it. */
async function timesOf(
  call: RpcCall,
  { logs, last }: LogRange,
  isHinted: boolean,
): Promise<(log: RawLog) => number> {
  if (isHinted && logs.every(({ blockTimestamp }) => blockTimestamp))
    return (log) => parseQuantity(log.blockTimestamp) * 1_000
  const blocks = [...new Set(logs.map((log) => Number(log.blockNumber)))]
  const times = new Map<number, number>([[last.number, last.timestampMs]])
  const hashOf = new Map(logs.map((log) => [Number(log.blockNumber), log.blockHash]))
  for (const header of await mapInBatches(blocks, CHUNK_BLOCKS, (block) =>
    getBlockHeader(call, block),
  )) {
    if (!header)
      throw transientError('eth_getBlockByNumber: a block whose logs were given is missing')
    if (header.hash !== hashOf.get(header.number))
      throw transientError(`eth_getLogs: logs of block ${header.number} are of another fork`)
    times.set(header.number, header.timestampMs)
  }
  return (log) => times.get(Number(log.blockNumber))!
}
