import { keccak256 } from 'viem'
import type { Hex } from '../chain.js'
import { LackingError, NodeError, RpcError, transient } from '../rpc/errors.js'
import { type Call, quantity } from '../rpc/evm.js'
import { inBatches } from '../rpc/nodes.js'

/** A log as nodes return it (execution API, `eth_getLogs`). */
export interface RawLog {
  address: Hex
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  blockHash: Hex
  transactionHash: Hex
  logIndex: Hex
  /** Seconds, hex; only some nodes return it. */
  blockTimestamp?: Hex | null
  removed?: boolean
}

/** A transaction's receipt, as far as it is read. */
export type RawReceipt = { logs: RawLog[] } & Record<
  'transactionHash' | 'blockHash' | 'blockNumber' | 'status' | 'gasUsed' | 'effectiveGasPrice',
  Hex
>

/** Reads a transaction's receipt; null where the node has none. */
export const getReceipt = (call: Call, hash: Hex): Promise<RawReceipt | null> =>
  call<RawReceipt | null>('eth_getTransactionReceipt', [hash])

/** Logs of our contracts in a range of blocks, with the headers of its ends from the node that gave the logs. */
export interface LogRange {
  logs: RawLog[]
  first: Header
  last: Header
}

/** A block's header, as far as it is read. */
export interface Header {
  number: number
  hash: Hex
  parentHash: Hex
  timestampMs: number
  logsBloom: Hex
}

type RawHeader = Record<'number' | 'hash' | 'parentHash' | 'timestamp' | 'logsBloom', Hex>

/** Reads a block's header; null when the node lacks the block. */
export async function getHeader(
  call: Call,
  block: number | 'latest' | 'safe' | 'finalized' | Hex,
): Promise<Header | null> {
  const method = String(block).startsWith('0x') ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
  const raw = await call<RawHeader | null>(method, [typeof block === 'number' ? quantity(block) : block, false])
  if (!raw) return null
  const header = {
    number: Number(raw.number),
    hash: raw.hash,
    parentHash: raw.parentHash,
    timestampMs: Number(raw.timestamp) * 1_000,
    logsBloom: raw.logsBloom,
  }
  if (typeof block === 'number' && header.number !== block) {
    throw transient(`eth_getBlockByNumber: asked for block ${block}, got ${header.number}`)
  }
  return header
}

/** @throws RpcError transient where a header is not the parent of the next */
export function assertLinked(headers: readonly Header[]): void {
  for (const [i, { number, parentHash }] of headers.entries())
    if (i > 0 && parentHash !== headers[i - 1]!.hash)
      throw transient(`block ${number} does not continue block ${number - 1}: the node changed its fork meanwhile`)
}

/** Filter by our contracts and first topics. */
export interface LogFilter {
  /** Addresses, at least one, lower case. */
  addresses: readonly Hex[]
  topics: readonly Hex[]
}

const HEADERS_AT_ONCE = 16

/** Blocks of a range; those from `checkFrom` on are checked against their headers, none where it is left out. */
export interface Blocks {
  from: number
  to: number
  checkFrom?: number
}

/**
 * Reads the logs of a range of blocks from a node, in order, with its ends: a node that lacks the last block would
 * return an empty list instead of an error.
 * @throws RpcError
 */
export async function readLogs(
  call: Call,
  filter: LogFilter,
  { from, to, checkFrom = to + 1 }: Blocks,
): Promise<LogRange> {
  const [logs, last, first] = await Promise.all([
    listLogs(call, filter, from, to),
    getHeader(call, to),
    from === to ? null : getHeader(call, from),
  ])
  if (!last || (from !== to && !first)) throw new LackingError(`eth_getLogs: the node lacks blocks of ${from}-${to}`)
  const checked = checkFrom > to ? logs : await checkLogs(call, filter, logs, { from: Math.max(from, checkFrom), last })
  return { logs: checked, first: first ?? last, last }
}

/**
 * Checks a node's logs against the headers of blocks `from` to `last`: headers have to be linked, each log has to be in
 * its header's block, and a block without logs is looked at by itself.
 */
async function checkLogs(
  call: Call,
  filter: LogFilter,
  logs: readonly RawLog[],
  { from, last }: { from: number; last: Header },
): Promise<RawLog[]> {
  const blocks = new Map<number, RawLog[]>()
  for (const log of logs) {
    const block = Number(log.blockNumber)
    const list = blocks.get(block)
    if (list) list.push(log)
    else blocks.set(block, [log])
  }
  const numbers = Array.from({ length: last.number - from }, (_, i) => from + i)
  const below = await inBatches(numbers, HEADERS_AT_ONCE, (block) => getHeader(call, block))
  const headers = [...below.filter((header) => header !== null), last]
  if (headers.length <= numbers.length) throw transient(`eth_getBlockByNumber: a block below ${last.number} is missing`)
  assertLinked(headers)
  const checked = await inBatches(headers, HEADERS_AT_ONCE, async (header) => {
    const given = blocks.get(header.number)
    if (given?.some(({ blockHash }) => blockHash !== header.hash))
      throw transient(`eth_getLogs: got a log of block ${header.number} from another fork`)
    return given ?? getBlockLogs(call, filter, header)
  })
  return [...logs.filter(({ blockNumber }) => Number(blockNumber) < from), ...checked.flat()]
}

async function listLogs(call: Call, { addresses, topics }: LogFilter, from: number, to: number): Promise<RawLog[]> {
  const filter = { address: oneOrMore(addresses), topics: [topics], fromBlock: quantity(from), toBlock: quantity(to) }
  return ordered(await call<RawLog[]>('eth_getLogs', [filter]), addresses, { from, to })
}

/** Address parameter of `eth_getLogs`: a list only for several addresses. */
const oneOrMore = (addresses: readonly Hex[]): Hex | readonly Hex[] =>
  addresses.length === 1 ? addresses[0]! : addresses

/**
 * Reads the logs of one block by its hash (EIP-234), so that another fork can't answer. Where the list is empty but the
 * header's bloom filter matches, all logs of the block are read: some nodes announce a block before they have these. A
 * node that gives no logs without an address keeps its empty list: a confirmed one is two nodes' word.
 * @throws RpcError transient where the node has none of them yet
 */
export async function getBlockLogs(call: Call, filter: LogFilter, header: Header): Promise<RawLog[]> {
  if (!bloomMayHoldLogs(header.logsBloom, filter)) return []
  const { addresses, topics } = filter
  const blockHash = header.hash
  const ask = (of: object) => call<RawLog[]>('eth_getLogs', [{ ...of, blockHash }])
  let found = await ask({ address: oneOrMore(addresses), topics: [topics] })
  if (found.length === 0) {
    const all = await ask({}).catch((error: unknown) => {
      if (error instanceof RpcError && error.fault !== 'rate_limited' && error.cause instanceof NodeError) return null
      throw error
    })
    if (all === null) return []
    if (all.length === 0) throw transient(`eth_getLogs: the node has no logs of block ${header.number} yet`)
    const isAsked = ({ address, topics: [first] }: RawLog) =>
      addresses.includes(address.toLowerCase() as Hex) && topics.some((topic) => topic === first)
    found = all.filter(isAsked)
  }
  return ordered(found, addresses, { from: header.number, to: header.number, hash: blockHash })
}

/** Checks and sorts a node's logs, and drops duplicates. @throws RpcError transient for a log outside the request */
function ordered(
  logs: RawLog[],
  addresses: readonly Hex[],
  { from, to, hash }: { from: number; to: number; hash?: Hex },
): RawLog[] {
  const [first] = addresses
  let isSorted = true
  let previous = -1
  for (const log of logs) {
    const block = Number(log.blockNumber)
    if (log.removed || block < from || block > to || (hash && log.blockHash !== hash)) {
      throw transient(`eth_getLogs: got a log of block ${block} (${log.blockHash}) for blocks ${from}-${to}`)
    }
    if (log.address !== first && !addresses.includes(log.address.toLowerCase() as Hex)) {
      throw transient(`eth_getLogs: got a log of contract ${log.address}`)
    }
    const place = block * 1e6 + Number(log.logIndex)
    if (place <= previous) isSorted = false
    previous = place
  }
  if (isSorted) return logs
  const byPlace = new Map(logs.map((log) => [Number(log.blockNumber) * 1e6 + Number(log.logIndex), log]))
  return [...byPlace.entries()].sort(([a], [b]) => a - b).map(([, log]) => log)
}

/** Tells whether a block with this bloom filter may hold logs that match. */
const bloomMayHoldLogs = (bloom: Hex, { addresses, topics }: LogFilter): boolean =>
  addresses.some((address) => bloomMayHold(bloom, address)) && topics.some((topic) => bloomMayHold(bloom, topic))

/**
 * True if a bloom filter may hold an address or a topic (Yellow Paper, section 4.4.3: three of 2048 bits of its hash).
 */
function bloomMayHold(bloom: Hex, value: Hex): boolean {
  const hash = keccak256(value, 'bytes')
  for (let i = 0; i < 6; i += 2) {
    const bit = ((hash[i]! << 8) | hash[i + 1]!) & 2047
    const nibble = Number.parseInt(bloom[2 + 511 - (bit >> 2)]!, 16)
    if ((nibble & (1 << (bit & 3))) === 0) return false
  }
  return true
}
