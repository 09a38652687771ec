import { keccak256 } from 'viem'
import type { Hex } from '../chain.js'
import { lacksMethod, RpcError, transient } from '../rpc/errors.js'
import type { Call } from '../rpc/evm.js'

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

/** Logs of our contracts in a range of blocks. */
export interface LogRange {
  logs: RawLog[]
  /** Header of the range's last block, from the node that gave the logs. */
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

const quantity = (value: number): Hex => `0x${value.toString(16)}`

/** Reads a block's header; null when the node lacks the block. */
export async function getHeader(
  call: Call,
  block: number | 'latest' | 'safe' | 'finalized' | Hex,
): Promise<Header | null> {
  const byHash = typeof block === 'string' && block.startsWith('0x')
  const raw = byHash
    ? await call<RawHeader | null>('eth_getBlockByHash', [block, false])
    : await call<RawHeader | null>('eth_getBlockByNumber', [typeof block === 'number' ? quantity(block) : block, false])
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
  /** One or more, lower case. */
  addresses: readonly Hex[]
  topics: readonly Hex[]
}

/** Logs of an answer that its node did not cut off without a word: no known bound is lower. */
const KNOWN_WHOLE = 49
/** Most logs of an answer that was seen to be whole, by node: what it cuts off is beyond them. */
const wholeUpTo = new WeakMap<Call, number>()

/**
 * Reads the logs of blocks `from` to `to`, in order, with the last block's header from the same node: a node that lacks
 * the last block would return an empty list instead of an error.
 * @throws RpcError of fault too_much, too, where the node gives a part of several blocks' logs
 */
export async function getLogRange(call: Call, filter: LogFilter, from: number, to: number): Promise<LogRange> {
  const [logs, last] = await Promise.all([listLogs(call, filter, from, to), getHeader(call, to)])
  if (!last) throw transient(`eth_getLogs: the node does not have block ${to} yet`)
  if (from < to && logs.length > (wholeUpTo.get(call) ?? KNOWN_WHOLE)) {
    const end = Number(logs.at(-1)!.blockNumber)
    const known = logs.filter(({ blockNumber }) => Number(blockNumber) === end).length
    if ((await listLogs(call, filter, end, to)).length > known)
      throw new RpcError('too_much', `eth_getLogs: ${logs.length} logs of blocks ${from}-${to} are not all`)
    wholeUpTo.set(call, logs.length)
  }
  return { logs, last }
}

async function listLogs(call: Call, { addresses, topics }: LogFilter, from: number, to: number): Promise<RawLog[]> {
  const filter = { address: oneOrMore(addresses), topics: [topics], fromBlock: quantity(from), toBlock: quantity(to) }
  return ordered(await call<RawLog[]>('eth_getLogs', [filter]), addresses, { from, to })
}

/** Address parameter of `eth_getLogs`: a list only for several addresses. */
const oneOrMore = (addresses: readonly Hex[]): Hex | readonly Hex[] =>
  addresses.length === 1 ? addresses[0]! : addresses

/** Logs of one block. */
interface BlockLogs {
  logs: RawLog[]
  /** Whether more than one list without them says that there are none. */
  isSure: boolean
}

/**
 * Reads the logs of one block by its hash (EIP-234), so that another fork can't answer. The receipts decide where the
 * list is empty but the header's bloom filter matches: some nodes announce a block before they index its logs. Where
 * the node lacks the method, the list has to be asked for again later.
 */
export async function getBlockLogs(call: Call, filter: LogFilter, header: Header): Promise<BlockLogs> {
  if (!bloomMayHoldLogs(header.logsBloom, filter)) return { logs: [], isSure: true }
  const { addresses, topics } = filter
  const listed = await call<RawLog[]>('eth_getLogs', [
    { address: oneOrMore(addresses), topics: [topics], blockHash: header.hash },
  ])
  const found = listed.length > 0 ? listed : await logsOfReceipts(call, filter, header)
  const logs = ordered(found ?? [], addresses, { from: header.number, to: header.number, hash: header.hash })
  return { logs, isSure: found !== null }
}

/** Reads the logs of a block from its receipts, checked by block hash. Null where the node lacks the method. */
async function logsOfReceipts(call: Call, { addresses, topics }: LogFilter, header: Header): Promise<RawLog[] | null> {
  const method = 'eth_getBlockReceipts'
  const asked = call<{ blockHash: Hex; logs: RawLog[] }[] | null>(method, [quantity(header.number)])
  const receipts = await asked.catch((error: Error) => {
    if (lacksMethod(error)) return 'lacking' as const
    throw error
  })
  if (receipts === 'lacking') return null
  // a matching bloom filter comes from at least one receipt
  if (!receipts?.length || receipts.some(({ blockHash }) => blockHash !== header.hash))
    throw transient(`${method}: not those of block ${header.number} (${header.hash})`)
  return receipts
    .flatMap((receipt) => receipt.logs)
    .filter(
      (log) => addresses.includes(log.address.toLowerCase() as Hex) && topics.some((topic) => topic === log.topics[0]),
    )
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

/** Whether a block with this bloom filter may hold logs that match. */
const bloomMayHoldLogs = (bloom: Hex, { addresses, topics }: LogFilter): boolean =>
  addresses.some((address) => bloomMayHold(bloom, address)) && topics.some((topic) => bloomMayHold(bloom, topic))

/**
 * Whether a bloom filter may hold an address or a topic (Yellow Paper, section 4.4.3: three of 2048 bits of its hash).
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
