import type { EvmChain } from '../../chains/evm/chain.js'
import { decodeLogs, filterOf, mergeLogs, sizeOf } from '../../chains/evm/decodeLogs.js'
import { getHeader, getLogRange, type LogRange, type RawLog } from '../../chains/evm/logs.js'
import { compareLogs, completeLogs } from '../../chains/evm/rangeCheck.js'
import { RpcError } from '../../chains/rpc/errors.js'
import type { Call } from '../../chains/rpc/evm.js'
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
  const filter = filterOf(config)
  const [answer, first] = await Promise.all([
    getLogRange(call, filter, from, to),
    from === to ? null : getHeader(call, from),
  ])
  const { last } = answer
  if (from !== to && !first) throw new RpcError('transient', `eth_getBlockByNumber: block ${from} is missing`)
  const firstHeader = first ?? last
  const range = { logs: await checkLogs(call, { chain, checkFrom }, answer, from), last }
  const decoded = await decodeLogs(call, { ...config, chain: chain.chain }, range.logs, await timesOf(call, range))
  const configured = config.role === 'hub' ? minimumEntries(chain, from, to, firstHeader.timestampMs) : []
  if (configured.length > 0) decoded.entries = [...configured, ...decoded.entries].sort(byPosition)
  return {
    from,
    to,
    decoded,
    parentHash: fromHex(firstHeader.parentHash),
    lastHash: fromHex(range.last.hash),
    hashOfBlock: hashesOf(range.logs),
  }
}

/** Compares old blocks with another node's answer, where there is one, and new blocks with their headers. */
async function checkLogs(
  call: Call,
  { chain, checkFrom }: Pick<RangeSource, 'chain' | 'checkFrom'>,
  { logs, last }: LogRange,
  from: number,
): Promise<RawLog[]> {
  const filter = filterOf(chain.config)
  const firstNew = logs.findIndex(({ blockNumber }) => Number(blockNumber) >= checkFrom)
  const cut = firstNew === -1 ? logs.length : firstNew
  const isAllNew = from >= checkFrom
  const isAllOld = last.number < checkFrom
  const to = Math.min(last.number, checkFrom - 1)
  const old = isAllNew ? [] : await compareLogs(chain.rpc, call, filter, { logs: logs.slice(0, cut), from, to })
  const fresh = isAllOld
    ? []
    : await completeLogs(call, filter, logs.slice(cut), { from: Math.max(from, checkFrom), last })
  return fresh.length === 0 ? [...old] : [...old, ...fresh]
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
  for (let i = 0; i < blocks.length; i += CHUNK_BLOCKS) {
    const headers = await Promise.all(blocks.slice(i, i + CHUNK_BLOCKS).map((block) => getHeader(call, block)))
    for (const header of headers) {
      if (!header) throw new RpcError('transient', 'eth_getBlockByNumber: a block whose logs were given is missing')
      times.set(header.number, header.timestampMs)
    }
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
