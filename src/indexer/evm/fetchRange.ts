import type { EvmChain } from '../../chains/evm/chain.js'
import { decodeLogs, filterOf, mergeLogs, sizeOf } from '../../chains/evm/decodeLogs.js'
import { getHeader, type LogRange, type RawLog } from '../../chains/evm/logs.js'
import { readCheckedLogs } from '../../chains/evm/rangeCheck.js'
import { RpcError, transient } from '../../chains/rpc/errors.js'
import { type Call, inBatches } from '../../chains/rpc/nodes.js'
import { type DecodedEntry, decodeEntry } from '../../registry/journal/decode.js'
import { bigIntToWord, fromHex } from '../../registry/primitives/bytes.js'
import type { ConfirmedRange } from './types.js'
import type { RangeWidth } from './width.js'

/** The source of a range. */
export interface RangeSource {
  chain: EvmChain
  width: RangeWidth
  /** Logs from this block on are checked against headers: a node with late logs lacks those near its head. */
  checkFrom: number
}

/**
 * Reads the confirmed logs of blocks `from` to `to`. A range that a node finds too large is halved.
 * @throws ChainUnavailableError
 */
export async function fetchRange(source: RangeSource, from: number, to: number): Promise<ConfirmedRange> {
  const { chain, width } = source
  try {
    const range = await chain.rpc.onOneNode((call) => readRange(call, source, from, to))
    width.answered(to - from + 1, sizeOf(range.decoded))
    return range
  } catch (error) {
    if (!(error instanceof RpcError) || error.fault !== 'too_much' || from === to) {
      width.failed(to - from + 1)
      throw new Error(`getting logs of blocks ${from}-${to}: ${(error as Error).message}`, { cause: error })
    }
    width.tooMuch(to - from + 1)
    const middle = Math.floor((from + to) / 2)
    const low = await fetchRange(source, from, middle)
    const high = await fetchRange(source, middle + 1, to)
    return {
      from,
      to,
      decoded: mergeLogs([low.decoded, high.decoded]),
      parentHash: low.parentHash,
      lastHash: high.lastHash,
      hashOfBlock: new Map([...low.hashOfBlock, ...high.hashOfBlock]),
    }
  }
}

async function readRange(
  call: Call,
  { chain, checkFrom }: RangeSource,
  from: number,
  to: number,
): Promise<ConfirmedRange> {
  const { config } = chain
  const { first, ...range } = await readCheckedLogs(chain.rpc, call, filterOf(config), { from, to, checkFrom })
  const decoded = await decodeLogs(call, { ...config, chain: chain.chain }, range.logs, await timesOf(call, range))
  const configured = config.role === 'hub' ? minimumEntries(chain, from, to, first.timestampMs) : []
  if (configured.length > 0) decoded.entries = [...configured, ...decoded.entries].sort(byPosition)
  return {
    from,
    to,
    decoded,
    parentHash: fromHex(first.parentHash),
    lastHash: fromHex(range.last.hash),
    hashOfBlock: hashesOf(range.logs),
  }
}

const byPosition = (a: DecodedEntry, b: DecodedEntry): number =>
  a.position!.block - b.position!.block || a.position!.logIndex - b.position!.logIndex

function hashesOf(logs: readonly RawLog[]): Map<number, Buffer> {
  const hashOfBlock = new Map<number, Buffer>()
  let last = ''
  for (const { blockNumber, blockHash } of logs) {
    if (blockNumber === last) continue
    last = blockNumber
    hashOfBlock.set(Number(blockNumber), fromHex(blockHash))
  }
  return hashOfBlock
}

/** Headers that are read at once. */
const CHUNK_BLOCKS = 32

/** Times of the logs' blocks. Many nodes put them into the log; the headers of others are read. */
async function timesOf(call: Call, { logs, last }: LogRange): Promise<(log: RawLog) => number> {
  if (logs.every((log) => log.blockTimestamp !== undefined)) return (log) => Number(log.blockTimestamp) * 1_000
  const blocks = [...new Set(logs.map((log) => Number(log.blockNumber)))]
  const times = new Map<number, number>([[last.number, last.timestampMs]])
  for (const header of await inBatches(blocks, CHUNK_BLOCKS, (block) => getHeader(call, block))) {
    if (!header) throw transient('eth_getBlockByNumber: a block whose logs were given is missing')
    times.set(header.number, header.timestampMs)
  }
  return (log) => times.get(Number(log.blockNumber))!
}

/** Position before every log of a block, for a minimum that is configured: contracts of others emit none. */
const CONFIGURED_LOG_INDEX = -1

function minimumEntries(chain: EvmChain, from: number, to: number, timestampMs: number): DecodedEntry[] {
  const { watchOnly, startBlock } = chain.config
  return (watchOnly?.minimum ?? [])
    .map(({ fromBlock, wei }) => ({ block: Math.max(fromBlock, startBlock), wei }))
    .filter(({ block }) => block >= from && block <= to)
    .map(({ block, wei }) =>
      decodeEntry({
        kind: 'minimum',
        position: { chain: chain.chain, block, logIndex: CONFIGURED_LOG_INDEX },
        txKey: null,
        causeMs: timestampMs,
        body: bigIntToWord(BigInt(wei)),
      }),
    )
}
