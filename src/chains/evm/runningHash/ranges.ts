import { isDeepStrictEqual } from 'node:util'
import { errorSentence, fallbackOnExpectedError } from '../../../ops/logger/errors.js'
import { type DecodedEntry, decodeEntry } from '../../../registry/journal/decode.js'
import { bigIntToWord, fromHex, toHex } from '../../../registry/primitives/bytes.js'
import { mapInBatches } from '../../rpc/batches.js'
import { errorWithCauses, isTooMuchError, RpcError, transientError } from '../../rpc/errors.js'
import { type EvmRpc, parseQuantity } from '../../rpc/evm.js'
import { type AgreedAnswer, NodesDisagreeError, type RpcCall } from '../../rpc/nodes.js'
import type { EvmChain } from '../chain.js'
import {
  blockNumbersOfLogs,
  type DecodedBlock,
  type DecodedLogs,
  decodedLogCount,
  decodeLogs,
  logFilterOfContracts,
  logsOfBlocks,
} from '../decodeLogs.js'
import {
  ANSWER_LIMIT_ADVICE,
  assertHeadersLinked,
  type BlockHeader,
  getBlockHeader,
  getBlockLogs,
  type LogRange,
  type RawLog,
  readLogsOfRange,
  requireBlockHeader,
} from '../logs.js'
import { contractsWithRunningHash } from './hashes.js'
import type { LogRangeWidth } from './width.js'

export interface ConfirmedLogRange {
  from: number
  to: number
  decoded: DecodedLogs
  /** Hash of block `from` - 1, taken from the header of block `from`. */
  parentHash: Buffer
  /** Hash of block `to`. */
  lastHash: Buffer
}

/** Reader of logs in ranges of blocks, with the nodes to read from and the width of the ranges. */
export interface BlockRangeSource<Range> {
  rpc: EvmRpc
  width: LogRangeWidth
  /** @param first answer of another node, if there is one @throws RpcError */
  read(call: RpcCall, from: number, to: number, first?: Range): Promise<Range>
  /**
   * Called with every range. Checks that two nodes have the range's last block, if the ranges of all nodes but one were
   * refuted. Absent where no running hash proves ranges. Its presence also allows the range of one node, if the ranges
   * of all other nodes were refuted.
   * @throws as `requireAgreedLastBlock`
   */
  requireAgreedEnd?(range: AgreedAnswer<Range>): Promise<void>
  /** Number of logs in a range. */
  sizeOf(range: Range): number
}

/**
 * Header of a block on the chain: two nodes return it for the number, where two are configured.
 * @throws NodesDisagreeError, ChainUnavailableError
 */
export async function readAgreedHeader(
  { rpc }: Pick<EvmChain, 'rpc'>,
  number: number,
): Promise<BlockHeader> {
  const about = `the hash of block ${number}`
  return (await rpc.agreed((call) => requireBlockHeader(call, number), { about })).answer
}

/**
 * Checks that two nodes have a range's last block, if the range's logs come from one node because the logs of all other
 * nodes were refuted. Does nothing for a range that enough nodes gave.
 * @throws as `readAgreedHeader`; RpcError transient where two nodes have another block at that height
 */
export async function requireAgreedLastBlock(
  chain: Pick<EvmChain, 'rpc'>,
  { answer: { to, lastHash }, nodes }: AgreedAnswer<ConfirmedLogRange>,
): Promise<void> {
  if (nodes >= chain.rpc.needed) return
  const { hash } = await readAgreedHeader(chain, to)
  if (hash !== toHex(lastHash))
    throw transientError(`block ${to} is ${hash}, and no longer ${toHex(lastHash)}`)
}

/** Maximum number of logs in a range. One transaction writes a range. */
const MAX_LOGS_PER_RANGE = 10_000

/** True if a smaller range would not help: a node asked to wait, or nodes contradict each other. */
const isUnrelatedToWidth = (error: unknown): boolean =>
  error instanceof NodesDisagreeError ||
  errorWithCauses(error).some((one) => one instanceof RpcError && one.fault === 'rate_limited')

/**
 * Reads blocks `from` to `to`, from two nodes where two are configured. A range that is too large is halved.
 * @returns consecutive ranges
 * @throws Error whose cause is a NoQuorumError, ChainUnavailableError or RpcError
 */
export async function readBlocksInRanges<Range>(
  source: BlockRangeSource<Range>,
  from: number,
  to: number,
): Promise<AgreedAnswer<Range>[]> {
  const { rpc, width, read, requireAgreedEnd, sizeOf } = source
  try {
    const range = await rpc.agreed<Range>((call, first) => read(call, from, to, first), {
      isProved: requireAgreedEnd !== undefined,
    })
    await requireAgreedEnd?.(range)
    const logs = sizeOf(range.answer)
    if (logs > MAX_LOGS_PER_RANGE && from < to) throw new RpcError('too_much', `${logs} logs`)
    width.answered(to - from + 1, logs)
    return [range]
  } catch (error) {
    const isTooMuch = errorWithCauses(error).some(isTooMuchError)
    if (!isTooMuch || from === to) {
      if (!isUnrelatedToWidth(error)) width.failed(to - from + 1)
      const advice = isTooMuch ? ANSWER_LIMIT_ADVICE : ''
      throw new Error(`getting logs of blocks ${from}-${to}: ${errorSentence(error)}${advice}`, {
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
      const reading = read(first, last)
      // the promise is awaited later, in order: until then its failure must not be an unhandled rejection
      reading.catch(() => {})
      ahead.push(reading)
      next = last + 1
    }
    const ranges = await ahead.shift()
    if (ranges) yield* ranges
    done = ranges === undefined
  }
}

interface BlockRangeToRead {
  from: number
  to: number
  width: LogRangeWidth
  cuts?: readonly number[]
}

/** True if the contracts' running hashes cover all logs of a chain. No running hash covers a spoke's messages. */
export const isCoveredByRunningHash = ({ config }: EvmChain): boolean =>
  config.role === 'hub' && contractsWithRunningHash(config).length > 0

/**
 * Source of a chain's confirmed logs. Where the contracts' running hashes prove that no other block has logs, the second
 * node is asked only for the blocks in which the first node has logs.
 * @param allowsLogTimes true if block timestamps may come from an optional field of the logs: allowed where the running
 * hash includes the timestamps
 */
export const logRangeSource = (
  chain: EvmChain,
  width: LogRangeWidth,
  allowsLogTimes = isCoveredByRunningHash(chain),
): BlockRangeSource<ConfirmedLogRange> => ({
  rpc: chain.rpc,
  width,
  async read(call, from, to, first) {
    const readOwn = () => readLogRange(call, chain, { from, to, allowsLogTimes })
    if (!first || !isCoveredByRunningHash(chain)) return readOwn()
    const isDense = blockNumbersOfLogs(first.decoded).length > MAX_BLOCKS_READ_BY_HASH
    const whole = isDense ? await fallbackOnExpectedError(readOwn(), isTooMuchError, null) : null
    const isEqual = whole?.lastHash.equals(first.lastHash)
    if (isEqual && isDeepStrictEqual(whole?.decoded, first.decoded)) return first
    return (await hasSameLogs(call, chain, first)) ? first : (whole ?? readOwn())
  },
  sizeOf: ({ decoded }) => decodedLogCount(decoded),
  ...(isCoveredByRunningHash(chain) && {
    requireAgreedEnd: (range) => requireAgreedLastBlock(chain, range),
  }),
})

/** Decodes a chain's logs, and measures the time as the `decode` stage of the chain's loop. @throws RpcError */
const decodeChainLogs = (
  call: RpcCall,
  { config, chain, stages }: EvmChain,
  logs: readonly RawLog[],
  timeOf: (log: RawLog) => number,
): Promise<DecodedLogs> =>
  stages.work('decode', () => decodeLogs(call, { ...config, chain }, logs, timeOf))

interface RangeQuestion {
  from: number
  to: number
  allowsLogTimes: boolean
}

/**
 * Ranges up to this number of blocks are read by block hash, so that a lagging node behind a load balancer can't omit
 * a block. Also the number of blocks that are read in parallel.
 */
const MAX_BLOCKS_READ_BY_HASH = 8

/**
 * Reads the logs of a range by block number. Up to `MAX_BLOCKS_READ_BY_HASH` blocks are read by hash, unless block
 * timestamps may come from the logs (`allowsLogTimes`).
 * @throws RpcError
 */
async function readLogRange(
  call: RpcCall,
  chain: EvmChain,
  { from, to, allowsLogTimes }: RangeQuestion,
): Promise<ConfirmedLogRange> {
  const { config } = chain
  if (!allowsLogTimes && to - from < MAX_BLOCKS_READ_BY_HASH) {
    const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i)
    return rangeOfBlocks(await readBlocks(call, chain, numbers))
  }
  const read = await readLogsOfRange(call, logFilterOfContracts(config), from, to)
  const decoded = await decodeChainLogs(
    call,
    chain,
    read.logs,
    await readLogTimes(call, read, allowsLogTimes),
  )
  const blocks = [...configuredMinimumBids(config).keys()]
  const withMinimum = blocks.filter((block) => from <= block && block <= to)
  const headers = await Promise.all(withMinimum.map((block) => requireBlockHeader(call, block)))
  const configured = headers.flatMap((header) => minimumBidEntries(chain, header))
  if (configured.length > 0)
    decoded.entries = [...configured, ...decoded.entries].sort(compareByPosition)
  const parentHash = fromHex(read.first.parentHash)
  return { from, to, decoded, parentHash, lastHash: fromHex(read.last.hash) }
}

/** Consecutive blocks as a range. */
export const rangeOfBlocks = (blocks: readonly DecodedBlock[]): ConfirmedLogRange => ({
  from: blocks[0]!.block,
  to: blocks.at(-1)!.block,
  decoded: logsOfBlocks(blocks),
  parentHash: blocks[0]!.parentHash,
  lastHash: blocks.at(-1)!.hash,
})

/**
 * True if the called node has the last block of another node's range, and equal logs in the blocks in which that range
 * has logs. @throws RpcError
 */
export async function hasSameLogs(
  call: RpcCall,
  chain: EvmChain,
  { decoded, to, lastHash }: ConfirmedLogRange,
): Promise<boolean> {
  const [last, blocks] = await Promise.all([
    getBlockHeader(call, to),
    readBlocks(call, chain, blockNumbersOfLogs(decoded)),
  ])
  return last?.hash === toHex(lastHash) && isDeepStrictEqual(logsOfBlocks(blocks), decoded)
}

/** Reads some blocks by the hashes that the same node returns for them. @throws RpcError */
async function readBlocks(
  call: RpcCall,
  chain: EvmChain,
  numbers: readonly number[],
): Promise<DecodedBlock[]> {
  const headers = await mapInBatches(numbers, MAX_BLOCKS_READ_BY_HASH, (number) =>
    requireBlockHeader(call, number),
  )
  assertHeadersLinked(headers)
  return readBlocksOfHeaders(call, chain, headers)
}

/** Reads the logs of blocks by their hashes. @throws RpcError */
export const readBlocksOfHeaders = (
  call: RpcCall,
  chain: EvmChain,
  headers: readonly BlockHeader[],
): Promise<DecodedBlock[]> =>
  mapInBatches(headers, MAX_BLOCKS_READ_BY_HASH, async (header) => {
    const logs = await getBlockLogs(call, logFilterOfContracts(chain.config), header)
    const decoded = await decodeChainLogs(call, chain, logs, () => header.timestampMs)
    return {
      block: header.number,
      hash: fromHex(header.hash),
      parentHash: fromHex(header.parentHash),
      timestampMs: header.timestampMs,
      decoded: { ...decoded, entries: [...minimumBidEntries(chain, header), ...decoded.entries] },
    }
  })

/** Log index of the entry of a configured minimum bid: before every log of its block. */
export const LOG_INDEX_OF_CONFIGURED_MINIMUM_BID = -1

/**
 * The configured minimum bids of a watch-only hub, by the block from which each holds, in order. A minimum from before
 * the chain's `startBlock` holds from `startBlock`. Hub contracts of other deployers do not log their minimum.
 */
export function configuredMinimumBids({
  role,
  watchOnly,
  startBlock,
}: EvmChain['config']): ReadonlyMap<number, bigint> {
  const minima = role === 'hub' ? (watchOnly?.minimum ?? []) : []
  return new Map(
    minima
      .toSorted((a, b) => a.fromBlock - b.fromBlock)
      .map(({ fromBlock, wei }) => [Math.max(fromBlock, startBlock), BigInt(wei)]),
  )
}

/** Journal entry of the configured minimum bid that holds from a block on; none where no minimum begins there. */
function minimumBidEntries(
  { config, chain }: EvmChain,
  { number: block, timestampMs }: { number: number; timestampMs: number },
): DecodedEntry[] {
  const wei = configuredMinimumBids(config).get(block)
  if (wei === undefined) return []
  const position = { chain, block, logIndex: LOG_INDEX_OF_CONFIGURED_MINIMUM_BID }
  return [
    decodeEntry({
      kind: 'minimum',
      position,
      txKey: null,
      causeMs: timestampMs,
      body: bigIntToWord(wei),
    }),
  ]
}

const compareByPosition = (a: DecodedEntry, b: DecodedEntry): number =>
  a.position!.block - b.position!.block || a.position!.logIndex - b.position!.logIndex

/** Number of block headers that are read in parallel. */
const HEADERS_AT_ONCE = 32

/**
 * Timestamps of the logs' blocks, ms: from the field `blockTimestamp` if `allowsLogTimes` and all logs have the field,
 * otherwise from headers.
 */
async function readLogTimes(
  call: RpcCall,
  { logs, last }: LogRange,
  allowsLogTimes: boolean,
): Promise<(log: RawLog) => number> {
  if (allowsLogTimes && logs.every(({ blockTimestamp }) => blockTimestamp))
    return (log) => parseQuantity(log.blockTimestamp) * 1_000
  const blocks = [...new Set(logs.map((log) => Number(log.blockNumber)))]
  const times = new Map<number, number>([[last.number, last.timestampMs]])
  const hashOf = new Map(logs.map((log) => [Number(log.blockNumber), log.blockHash]))
  for (const header of await mapInBatches(blocks, HEADERS_AT_ONCE, (block) =>
    requireBlockHeader(call, block),
  )) {
    if (header.hash !== hashOf.get(header.number))
      throw transientError(`eth_getLogs: logs of block ${header.number} are of another fork`)
    times.set(header.number, header.timestampMs)
  }
  return (log) => times.get(Number(log.blockNumber))!
}
