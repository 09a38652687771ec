import { isDeepStrictEqual } from 'node:util'
import type { EvmChain } from '../chains/evm/chain.js'
import {
  type DecodedLogs,
  decodedLogCount,
  decodeLogs,
  logBlocksOf,
  logFilterOf,
} from '../chains/evm/decodeLogs.js'
import {
  assertLinked,
  getBlockLogs,
  getHeader,
  type Header,
  type LogRange,
  type RawLog,
  readLogs,
} from '../chains/evm/logs.js'
import { recordKeepers } from '../chains/evm/record.js'
import { causesOf, MissingDataError, RpcError, transientError } from '../chains/rpc/errors.js'
import { numberOf, type Rpc } from '../chains/rpc/evm.js'
import { type Call, DisagreementError, inBatches } from '../chains/rpc/nodes.js'
import { orIf, sentenceOf } from '../ops/log/errors.js'
import type { DecodedEntry } from '../registry/journal/decode.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import { configuredMinima, minimumEntries } from './minima.js'
import type { RangeWidth } from './width.js'

export interface ConfirmedRange {
  from: number
  to: number
  decoded: DecodedLogs
  /** Hash of block `from` - 1, as the range's first block states it. */
  parentHash: Buffer
  lastHash: Buffer
}

/** Reading of ranges of blocks. */
export interface RangeSource<Range> {
  rpc: Rpc
  width: RangeWidth
  /** @param first answer of another node, where there is one @throws RpcError */
  read(call: Call, from: number, to: number, first?: Range, host?: string): Promise<Range>
  /** Nodes that have to give it; two where it is left out. */
  nodes?: number
  /** True if what is read is proved afterwards. */
  isProved?: boolean
  /** Number of logs. */
  sizeOf(range: Range): number
}

/** Most logs of a range, which one transaction takes in. */
const MOST_LOGS = 10_000

const isTooMuch = (error: unknown): boolean =>
  error instanceof RpcError && error.fault === 'too_much'

/** True if a smaller range would change nothing: a node asked to wait, or nodes contradict each other. */
const isOfNodes = (error: unknown): boolean =>
  error instanceof DisagreementError ||
  causesOf(error).some((one) => one instanceof RpcError && one.fault === 'rate_limited')

/**
 * Reads blocks `from` to `to`, by two nodes where two are configured. A range that is too large is halved.
 * @returns consecutive ranges, with the number of nodes that gave each
 * @throws Error whose cause is an UndecidedError, ChainUnavailableError or RpcError
 */
export async function inRanges<Range>(
  source: RangeSource<Range>,
  from: number,
  to: number,
): Promise<(Range & { nodes: number })[]> {
  const { rpc, width, read, nodes: least = 2, isProved = false, sizeOf } = source
  try {
    const { answer, nodes } = await rpc.agreed<Range>(
      (call, first, host) => read(call, from, to, first, host),
      { isProved, least },
    )
    const logs = sizeOf(answer)
    if (logs > MOST_LOGS && from < to) throw new RpcError('too_much', `${logs} logs`)
    width.answered(to - from + 1, logs)
    return [{ ...answer, nodes }]
  } catch (error) {
    if (!isTooMuch(error) || from === to) {
      if (!isOfNodes(error)) width.failed(to - from + 1)
      throw new Error(`getting logs of blocks ${from}-${to}: ${sentenceOf(error)}`, {
        cause: error,
      })
    }
    width.tooMuch(to - from + 1)
    const middle = Math.floor((from + to) / 2)
    return [...(await inRanges(source, from, middle)), ...(await inRanges(source, middle + 1, to))]
  }
}

/** Ranges that are read ahead of who takes them: bounds memory, hides the round trips. */
const RANGES_AHEAD = 3

/**
 * Blocks `from` to `to` in consecutive ranges of the width that is learned meanwhile.
 * @param cuts blocks, ascending, at which a range has to end
 */
export async function* rangesAhead<T>(
  { from, to, width, cuts = [] }: Blocks,
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
      // awaited below in its turn; until then a failure is not unhandled
      asked.catch(() => {})
      ahead.push(asked)
      next = last + 1
    }
    const ranges = await ahead.shift()
    if (ranges) yield* ranges
    done = ranges === undefined
  }
}

export interface Blocks {
  from: number
  to: number
  width: RangeWidth
  cuts?: readonly number[]
}

/** True if two equal hashes prove all logs of a chain: a spoke's messages are in no record. */
export const isProvable = ({ config }: EvmChain): boolean =>
  config.role === 'hub' && recordKeepers(config).length > 0

/**
 * Source of a chain's confirmed logs. Where a record proves that no other block has logs, a second node is asked for
 * those blocks alone in which the first has some.
 * @param isHinted true if times may be those in the logs, which the record checks; an optional field is no source
 *   otherwise
 */
export const rangesOf = (
  chain: EvmChain,
  width: RangeWidth,
  { nodes = 2, isHinted = isProvable(chain) } = {},
): RangeSource<ConfirmedRange> => ({
  rpc: chain.rpc,
  width,
  nodes,
  isProved: isProvable(chain),
  async read(call, from, to, first) {
    const readOwn = () => readRange(call, chain, { from, to, isHinted })
    if (!first || !isProvable(chain)) return readOwn()
    const isDense = logBlocksOf(first.decoded).length > BY_HASH_BLOCKS
    const whole = isDense ? await orIf(readOwn(), isTooMuch, null) : null
    const isEqual = whole?.lastHash.equals(first.lastHash)
    if (isEqual && isDeepStrictEqual(whole?.decoded, first.decoded)) return first
    return (await hasSame(call, chain, first)) ? first : (whole ?? readOwn())
  },
  sizeOf: ({ decoded }) => decodedLogCount(decoded),
})

/** Decodes a chain's logs, on the clock of its loop. @throws RpcError */
export const decodedLogs = (
  call: Call,
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

/** Blocks up to which each is read by its hash, so a node behind a balancer can't leave one out. */
const BY_HASH_BLOCKS = 8

/** Few blocks by their hashes, more by number. @throws RpcError */
async function readRange(
  call: Call,
  chain: EvmChain,
  { from, to, isHinted }: RangeQuestion,
): Promise<ConfirmedRange> {
  const { config } = chain
  const isFew = !isHinted && to - from < BY_HASH_BLOCKS
  const blocks = Array.from({ length: isFew ? to - from + 1 : 0 }, (_, i) => from + i)
  const { logs, first, last, timeOf } = isFew
    ? await readBlocks(call, chain, blocks)
    : await readByNumber(call, chain, { from, to, isHinted })
  const decoded = await decodedLogs(call, chain, logs, timeOf)
  const beginning = await minimumHeaders(call, config, from, to)
  const configured = beginning.flatMap((header) => minimumEntries(chain, header))
  if (configured.length > 0) decoded.entries = [...configured, ...decoded.entries].sort(byPosition)
  const parentHash = fromHex(first.parentHash)
  return { from, to, decoded, parentHash, lastHash: fromHex(last.hash) }
}

/** Logs with the times of their blocks. */
type TimedLogs = LogRange & { timeOf: (log: RawLog) => number }

async function readByNumber(
  call: Call,
  { config }: EvmChain,
  { from, to, isHinted }: RangeQuestion,
): Promise<TimedLogs> {
  const read = await readLogs(call, logFilterOf(config), from, to)
  return { ...read, timeOf: await timesOf(call, read, isHinted) }
}

/** True if a node has the same logs in the blocks that have logs by another node, and the same last block. @throws RpcError */
export async function hasSame(
  call: Call,
  chain: EvmChain,
  { decoded, to, lastHash }: ConfirmedRange,
): Promise<boolean> {
  const [last, { logs, timeOf }] = await Promise.all([
    getHeader(call, to),
    readBlocks(call, chain, logBlocksOf(decoded)),
  ])
  const own = await decodedLogs(call, chain, logs, timeOf)
  return last?.hash === toHex(lastHash) && isDeepStrictEqual(own, decoded)
}

/** Logs of some blocks by the hashes that the node itself has for them. @throws RpcError */
async function readBlocks(
  call: Call,
  { config }: EvmChain,
  blocks: readonly number[],
): Promise<TimedLogs> {
  const filter = logFilterOf(config)
  const read = await inBatches(blocks, BY_HASH_BLOCKS, async (block) => {
    const header = await getHeader(call, block)
    if (!header) throw new MissingDataError(`eth_getBlockByNumber: the node lacks block ${block}`)
    return { header, logs: await getBlockLogs(call, filter, header) }
  })
  const headers = read.map(({ header }) => header)
  assertLinked(headers)
  const timeByBlock = new Map(headers.map(({ number, timestampMs }) => [number, timestampMs]))
  return {
    logs: read.flatMap(({ logs }) => logs),
    first: headers[0]!,
    last: headers.at(-1)!,
    timeOf: ({ blockNumber }: RawLog) => timeByBlock.get(Number(blockNumber))!,
  }
}

/** Headers of a range's blocks with which a configured minimum begins. */
async function minimumHeaders(
  call: Call,
  config: EvmChain['config'],
  from: number,
  to: number,
): Promise<Header[]> {
  const blocks = [...configuredMinima(config).keys()].filter(
    (block) => block >= from && block <= to,
  )
  const headers = await Promise.all(blocks.map((block) => getHeader(call, block)))
  if (headers.includes(null))
    throw transientError(`eth_getBlockByNumber: a block of ${from}-${to} is missing`)
  return headers.filter((header) => header !== null)
}

const byPosition = (a: DecodedEntry, b: DecodedEntry): number =>
  a.position!.block - b.position!.block || a.position!.logIndex - b.position!.logIndex

/** Headers that are read at once. */
const CHUNK_BLOCKS = 32

/** Times of the logs' blocks, by their headers, or by the logs themselves where these may be believed. */
async function timesOf(
  call: Call,
  { logs, last }: LogRange,
  isHinted: boolean,
): Promise<(log: RawLog) => number> {
  if (isHinted && logs.every(({ blockTimestamp }) => blockTimestamp))
    return (log) => numberOf(log.blockTimestamp) * 1_000
  const blocks = [...new Set(logs.map((log) => Number(log.blockNumber)))]
  const times = new Map<number, number>([[last.number, last.timestampMs]])
  const hashOf = new Map(logs.map((log) => [Number(log.blockNumber), log.blockHash]))
  for (const header of await inBatches(blocks, CHUNK_BLOCKS, (block) => getHeader(call, block))) {
    if (!header)
      throw transientError('eth_getBlockByNumber: a block whose logs were given is missing')
    if (header.hash !== hashOf.get(header.number))
      throw transientError(`eth_getLogs: logs of block ${header.number} are of another fork`)
    times.set(header.number, header.timestampMs)
  }
  return (log) => times.get(Number(log.blockNumber))!
}
