import { isDeepStrictEqual } from 'node:util'
import type { EvmChain } from '../chains/evm/chain.js'
import {
  type DecodedLogs,
  decodeLogs,
  filterOf,
  mergeLogs,
  sizeOf,
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
import { keepersOf } from '../chains/evm/record.js'
import { causesOf, LackingError, RpcError, transient } from '../chains/rpc/errors.js'
import { numberOf, type Rpc } from '../chains/rpc/evm.js'
import { type Call, inBatches } from '../chains/rpc/nodes.js'
import { orIf, sentenceOf } from '../ops/log/errors.js'
import type { DecodedEntry } from '../registry/journal/decode.js'
import { fromHex } from '../registry/primitives/bytes.js'
import { configuredMinima, minimumEntries } from './minima.js'
import type { RangeWidth } from './width.js'

export interface ConfirmedRange {
  from: number
  to: number
  decoded: DecodedLogs
  /** Hash of block `from` - 1, as the range's first block states it. */
  parentHash: Buffer
  lastHash: Buffer
  /** Numbers of the blocks that have logs, ascending. */
  logBlocks: readonly number[]
}

/** Reading of ranges of blocks. */
export interface RangeSource<Range> {
  rpc: Rpc
  width: RangeWidth
  /** @param first answer of another node, where there is one @throws RpcError */
  read(call: Call, from: number, to: number, first?: Range, host?: string): Promise<Range>
  /** Nodes that have to give it; two where it is left out. */
  least?(range: Range): number
  /** True if what is read is proved afterwards. */
  isProved?: boolean
  /** Number of logs. */
  sizeOf(range: Range): number
}

/** Most logs of a range, which one transaction takes in. */
const MOST_LOGS = 10_000

const isTooMuch = (error: unknown): boolean =>
  error instanceof RpcError && error.fault === 'too_much'

/** True if a node asked to wait: a smaller range would not change that. */
const isRateLimit = (error: unknown): boolean =>
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
  const { rpc, width, read, least, isProved = false, sizeOf } = source
  try {
    const { answer, nodes } = await rpc.agreed<Range>(
      (call, first, host) => read(call, from, to, first, host),
      {
        isProved,
        ...(least && { least }),
      },
    )
    const logs = sizeOf(answer)
    if (logs > MOST_LOGS && from < to) throw new RpcError('too_much', `${logs} logs`)
    width.answered(to - from + 1, logs)
    return [{ ...answer, nodes }]
  } catch (error) {
    if (!isTooMuch(error) || from === to) {
      if (!isRateLimit(error)) width.failed(to - from + 1)
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
  config.role === 'hub' && keepersOf(config).length > 0

/**
 * Source of a chain's confirmed logs. Beside another node's answer a second node is asked for the blocks that have
 * logs alone, where the record shows that no other has.
 */
export const rangesOf = (
  chain: EvmChain,
  width: RangeWidth,
  nodes = 2,
  isHinted = isProvable(chain),
): RangeSource<ConfirmedRange> => ({
  rpc: chain.rpc,
  width,
  read: (call, from, to, first) =>
    first && isProvable(chain)
      ? readAgain(call, chain, first)
      : readRange(call, chain, { from, to, isHinted }),
  least: leastOf(chain, nodes),
  isProved: isProvable(chain),
  sizeOf: ({ decoded }) => sizeOf(decoded),
})

/** Nodes that have to give a range. The record proves that a hub's range without logs has none. */
export const leastOf =
  (chain: EvmChain, nodes: number) =>
  ({ logBlocks }: ConfirmedRange): number =>
    isProvable(chain) && logBlocks.length === 0 ? 1 : nodes

export interface RangeQuestion {
  from: number
  to: number
  /** True if times may be those in the logs, which the record checks; an optional field is no source otherwise. */
  isHinted: boolean
}

/** Blocks up to which each is read by its hash, so a node behind a balancer can't leave one out. */
const BY_HASH_BLOCKS = 8

/** By number. @throws RpcError */
async function readRange(
  call: Call,
  chain: EvmChain,
  { from, to, isHinted }: RangeQuestion,
): Promise<ConfirmedRange> {
  const read = await readLogs(call, filterOf(chain.config), from, to)
  const timeOf = await timesOf(call, read, isHinted)
  return decodedRange(call, chain, { from, to }, { ...read, timeOf })
}

type ReadLogs = LogRange & { timeOf: (log: RawLog) => number }

async function decodedRange(
  call: Call,
  chain: EvmChain,
  { from, to }: Pick<ConfirmedRange, 'from' | 'to'>,
  { logs, first, last, timeOf }: ReadLogs,
): Promise<ConfirmedRange> {
  const { config } = chain
  const decoded = await decodeLogs(call, { ...config, chain: chain.chain }, logs, timeOf)
  const beginning = await minimumHeaders(call, config, from, to)
  const configured = beginning.flatMap((header) => minimumEntries(chain, header))
  if (configured.length > 0) decoded.entries = [...configured, ...decoded.entries].sort(byPosition)
  const parentHash = fromHex(first.parentHash)
  const logBlocks = [...new Set(logs.map(({ blockNumber }) => Number(blockNumber)))]
  return { from, to, decoded, parentHash, lastHash: fromHex(last.hash), logBlocks }
}

/** Few blocks by their hashes, more by number; what a node finds too much it is asked for in halves. */
export async function readInParts(
  call: Call,
  chain: EvmChain,
  question: RangeQuestion,
): Promise<ConfirmedRange> {
  const { from, to } = question
  if (to - from < BY_HASH_BLOCKS) {
    const blocks = Array.from({ length: to - from + 1 }, (_, i) => from + i)
    return decodedRange(call, chain, question, await readBlocks(call, chain, blocks))
  }
  const whole = await orIf(readRange(call, chain, question), isTooMuch, null)
  if (whole) return whole
  const middle = Math.floor((from + to) / 2)
  return joined([
    await readInParts(call, chain, { ...question, to: middle }),
    await readInParts(call, chain, { ...question, from: middle + 1 }),
  ])
}

/** Consecutive ranges as one. */
export function joined(parts: readonly ConfirmedRange[]): ConfirmedRange {
  const first = parts[0]!
  const last = parts.at(-1)!
  return {
    from: first.from,
    to: last.to,
    parentHash: first.parentHash,
    lastHash: last.lastHash,
    decoded: mergeLogs(parts.map(({ decoded }) => decoded)),
    logBlocks: parts.flatMap(({ logBlocks }) => logBlocks),
  }
}

/** A node's own reading of those blocks of a range that have logs by another node. @throws RpcError */
export async function readAgain(
  call: Call,
  chain: EvmChain,
  first: ConfirmedRange,
): Promise<ConfirmedRange> {
  const { from, to, logBlocks } = first
  if (logBlocks.length > BY_HASH_BLOCKS) {
    const question = { from, to, isHinted: true }
    const whole = await orIf(readRange(call, chain, question), isTooMuch, null)
    if (isDeepStrictEqual(whole, first)) return first
  }
  const { logs, timeOf } = await readBlocks(call, chain, logBlocks)
  const decoded = await decodeLogs(call, { ...chain.config, chain: chain.chain }, logs, timeOf)
  return { ...first, decoded }
}

/** Logs of some blocks by the hashes that the node itself has for them. @throws RpcError */
async function readBlocks(
  call: Call,
  { config }: EvmChain,
  blocks: readonly number[],
): Promise<ReadLogs> {
  const filter = filterOf(config)
  const read = await inBatches(blocks, BY_HASH_BLOCKS, async (block) => {
    const header = await getHeader(call, block)
    if (!header) throw new LackingError(`eth_getBlockByNumber: the node lacks block ${block}`)
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
    throw transient(`eth_getBlockByNumber: a block of ${from}-${to} is missing`)
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
    if (!header) throw transient('eth_getBlockByNumber: a block whose logs were given is missing')
    if (header.hash !== hashOf.get(header.number))
      throw transient(`eth_getLogs: logs of block ${header.number} are of another fork`)
    times.set(header.number, header.timestampMs)
  }
  return (log) => times.get(Number(log.blockNumber))!
}
