import { isDeepStrictEqual } from 'node:util'
import type { EvmChain } from '../chains/evm/chain.js'
import { type DecodedLogs, decodeLogs, filterOf, sizeOf } from '../chains/evm/decodeLogs.js'
import { getHeader, type Header, type LogRange, type RawLog, readLogs } from '../chains/evm/logs.js'
import { type ChainRecord, readRecord } from '../chains/evm/record.js'
import { RpcError, transient } from '../chains/rpc/errors.js'
import { numberOf, type Rpc } from '../chains/rpc/evm.js'
import { type Call, inBatches } from '../chains/rpc/nodes.js'
import { sentenceOf } from '../ops/log/errors.js'
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
  /** Record that the contracts keep as of the last block, by the node that gave the logs; null where it tells none. */
  own: ChainRecord | null
}

/** Reading of ranges of blocks. */
export interface RangeSource<Range> {
  rpc: Rpc
  width: RangeWidth
  /** @throws RpcError */
  read(call: Call, from: number, to: number): Promise<Range>
  /** True if two nodes gave the same; by all that they gave where it is left out. */
  isSame?(one: Range, other: Range): boolean
  /** Number of logs. */
  sizeOf(range: Range): number
}

/** Most logs of a range, which one transaction takes in. */
const MOST_LOGS = 10_000
/** Smaller ranges are not halved for one node alone: a free plan, or a lie, would stretch a catch-up without end. */
const LEAST_SHARED_BLOCKS = 500

/**
 * Reads blocks `from` to `to`, by two nodes where two are configured. A range that one of them finds too large is
 * halved, down to a bound; below it a node that still does has no say.
 * @returns consecutive ranges
 * @throws ChainUnavailableError
 */
export async function inRanges<Range>(
  source: RangeSource<Range>,
  from: number,
  to: number,
): Promise<Range[]> {
  const { rpc, width, read, isSame, sizeOf } = source
  try {
    const range = await rpc.quorum(
      (call) => read(call, from, to),
      isSame,
      to - from >= LEAST_SHARED_BLOCKS,
    )
    const logs = sizeOf(range)
    if (logs > MOST_LOGS && from < to) throw new RpcError('too_much', `${logs} logs`)
    width.answered(to - from + 1, logs)
    return [range]
  } catch (error) {
    if (!(error instanceof RpcError) || error.fault !== 'too_much' || from === to) {
      width.failed(to - from + 1)
      throw new Error(`getting logs of blocks ${from}-${to}: ${sentenceOf(error)}`, {
        cause: error,
      })
    }
    width.tooMuch(to - from + 1)
    const middle = Math.floor((from + to) / 2)
    return [...(await inRanges(source, from, middle)), ...(await inRanges(source, middle + 1, to))]
  }
}

/** Source of a chain's confirmed logs. */
export const rangesOf = (chain: EvmChain, width: RangeWidth): RangeSource<ConfirmedRange> => ({
  rpc: chain.rpc,
  width,
  isSame,
  read: (call, from, to) => readRange(call, chain, from, to),
  sizeOf: ({ decoded }) => sizeOf(decoded),
})

/** A node without the block's state tells no record. */
export const isSame = (
  { own, ...one }: ConfirmedRange,
  { own: others, ...other }: ConfirmedRange,
): boolean =>
  isDeepStrictEqual(one, other) &&
  (own === null || others === null || isDeepStrictEqual(own, others))

/** @throws RpcError */
export async function readRange(
  call: Call,
  chain: EvmChain,
  from: number,
  to: number,
): Promise<ConfirmedRange> {
  const { config } = chain
  const range = await readLogs(call, filterOf(config), from, to)
  const lastHash = fromHex(range.last.hash)
  const [timeOf, own] = await Promise.all([
    timesOf(call, range),
    readRecord(call, config, lastHash),
  ])
  const decoded = await decodeLogs(call, { ...config, chain: chain.chain }, range.logs, timeOf)
  const beginning = await minimumHeaders(call, config, from, to)
  const configured = beginning.flatMap((header) => minimumEntries(chain, header))
  if (configured.length > 0) decoded.entries = [...configured, ...decoded.entries].sort(byPosition)
  return { from, to, decoded, parentHash: fromHex(range.first.parentHash), lastHash, own }
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

/**
 * Times of the logs' blocks. Many nodes put them into the log; the headers of others are read. Some nodes that lack a
 * log's time leave the field out, others put null there.
 */
async function timesOf(call: Call, { logs, last }: LogRange): Promise<(log: RawLog) => number> {
  if (logs.every(({ blockTimestamp }) => blockTimestamp))
    return (log) => numberOf(log.blockTimestamp) * 1_000
  const blocks = [...new Set(logs.map((log) => Number(log.blockNumber)))]
  const times = new Map<number, number>([[last.number, last.timestampMs]])
  for (const header of await inBatches(blocks, CHUNK_BLOCKS, (block) => getHeader(call, block))) {
    if (!header) throw transient('eth_getBlockByNumber: a block whose logs were given is missing')
    times.set(header.number, header.timestampMs)
  }
  return (log) => times.get(Number(log.blockNumber))!
}
