import { isDeepStrictEqual } from 'node:util'
import { fromHex } from '../../registry/primitives/bytes.js'
import type { ConfirmationRules } from '../../registry/primitives/confirmation.js'
import type { Hex } from '../chain.js'
import { isTooMuchError, MissingDataError, transientError } from '../rpc/errors.js'
import { parseQuantity, type RpcCall, toRpcQuantity } from '../rpc/evm.js'

/** A log as nodes return it (execution API, `eth_getLogs`). */
export interface RawLog {
  address: Hex
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  blockHash: Hex
  transactionHash: Hex
  logIndex: Hex
  /** Time of the block, Unix seconds in hex. Only some nodes return it. */
  blockTimestamp?: Hex | null
  removed?: boolean
}

/** The fields of a transaction's receipt that we read. */
export type RawReceipt = { logs: RawLog[] } & Record<
  'transactionHash' | 'blockHash' | 'blockNumber',
  Hex
> & {
    gasUsed?: Hex | null
    /** 1 for success, 0 for failure, in hex. Some nodes pad it with zeros, or write it as a JSON number. */
    status: unknown
    /** Missing from the receipts of old node versions and of some clients. */
    effectiveGasPrice?: Hex | null
  }

/** True if a receipt reports success. @throws RpcError transient for a malformed status */
export function hasTransactionSucceeded({ status }: Pick<RawReceipt, 'status'>): boolean {
  const value = typeof status === 'number' ? status : parseQuantity(status)
  if (value !== 0 && value !== 1)
    throw transientError('eth_getTransactionReceipt: the status has another form')
  return value === 1
}

export const readTransactionReceipt = (call: RpcCall, hash: Hex): Promise<RawReceipt | null> =>
  call<RawReceipt | null>('eth_getTransactionReceipt', [hash])

/** Logs of a range of blocks, with the headers of its first and last block, from one node. */
export interface LogRange {
  logs: RawLog[]
  first: BlockHeader
  last: BlockHeader
}

/** The fields of a block's header that we read. */
export interface BlockHeader {
  number: number
  hash: Hex
  parentHash: Hex
  timestampMs: number
}

type RawHeader = Record<'number' | 'hash' | 'parentHash' | 'timestamp', Hex>

/**
 * Reads the header of a block, by number, tag or hash. Null where the node does not have the block.
 * @throws RpcError, also where the node returns another block
 */
export async function getBlockHeader(
  call: RpcCall,
  block: number | 'latest' | NonNullable<ConfirmationRules['tag']> | Hex,
): Promise<BlockHeader | null> {
  const method = String(block).startsWith('0x') ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
  const raw = await call<RawHeader | null>(method, [
    typeof block === 'number' ? toRpcQuantity(block) : block,
    false,
  ])
  if (!raw) return null
  const { hash, parentHash } = raw
  if (!isLowerCaseHex(hash) || !isLowerCaseHex(parentHash))
    throw transientError(`${method}: a hash has another form`)
  const header = {
    number: parseQuantity(raw.number),
    hash,
    parentHash,
    timestampMs: parseQuantity(raw.timestamp) * 1_000,
  }
  if (typeof block === 'number' && header.number !== block)
    throw transientError(`eth_getBlockByNumber: asked for block ${block}, got ${header.number}`)
  if (method === 'eth_getBlockByHash' && hash !== block)
    throw transientError(`eth_getBlockByHash: asked for block ${block}, got ${hash}`)
  return header
}

/** Reads the header of a block. @throws MissingDataError where the node does not have the block; RpcError */
export async function requireBlockHeader(call: RpcCall, number: number): Promise<BlockHeader> {
  const header = await getBlockHeader(call, number)
  if (header) return header
  throw new MissingDataError(`eth_getBlockByNumber: the node does not have block ${number}`)
}

/**
 * Checks that headers of adjacent heights are of one fork. `headers` are in ascending order; pairs with a gap between
 * them are not checked.
 * @throws RpcError transient where a header's parent hash is not the hash of the block before it
 */
export function assertHeadersLinked(headers: readonly BlockHeader[]): void {
  for (const [i, { number, parentHash }] of headers.entries())
    if (i > 0 && headers[i - 1]!.number === number - 1 && parentHash !== headers[i - 1]!.hash)
      throw transientError(
        `block ${number} does not continue block ${number - 1}: the node changed its fork meanwhile`,
      )
}

/** Filter of logs by their contracts and first topics. */
export interface LogFilter {
  /** Addresses, at least one, lower case. */
  addresses: readonly Hex[]
  topics: readonly Hex[]
}

/**
 * Reads the logs of blocks `from` to `to` (inclusive) from a node, in order, and the headers of both ends. The headers
 * matter: a node that does not have the last block returns an empty list instead of an error.
 * @throws RpcError
 */
export async function readLogsOfRange(
  call: RpcCall,
  filter: LogFilter,
  from: number,
  to: number,
): Promise<LogRange> {
  const [logs, last, first] = await Promise.all([
    listLogs(call, filter, from, to),
    requireBlockHeader(call, to),
    from === to ? null : requireBlockHeader(call, from),
  ])
  const hashes = new Map([first ?? last, last].map(({ number, hash }) => [number, hash]))
  for (const log of logs) {
    const block = Number(log.blockNumber)
    if ((hashes.get(block) ?? log.blockHash) !== log.blockHash)
      throw transientError(`eth_getLogs: logs of block ${block} are of another fork`)
    hashes.set(block, log.blockHash)
  }
  return { logs, first: first ?? last, last }
}

async function listLogs(
  call: RpcCall,
  { addresses, topics }: LogFilter,
  from: number,
  to: number,
): Promise<RawLog[]> {
  const filter = {
    address: addresses,
    topics: [topics],
    fromBlock: toRpcQuantity(from),
    toBlock: toRpcQuantity(to),
  }
  return checkAndSortLogs(await call<RawLog[]>('eth_getLogs', [filter]), addresses, { from, to })
}

/** End of an error message: advice to an operator whose node refuses the logs of a single block as too large. */
export const ANSWER_LIMIT_ADVICE = ": raise the node's limit for answers, or replace its URL"

/**
 * Reads the logs of one block by its hash (EIP-234), so that a node on another fork can't answer. A node may announce a
 * block before it has the logs. Confirmed logs are therefore checked against the contracts' running hashes, or read
 * again.
 * @throws RpcError; MissingDataError where the logs are too many for the node, since no smaller question is left
 */
export async function getBlockLogs(
  call: RpcCall,
  { addresses, topics }: LogFilter,
  header: BlockHeader,
): Promise<RawLog[]> {
  const filter = { address: addresses, topics: [topics], blockHash: header.hash }
  const logs = await call<RawLog[]>('eth_getLogs', [filter]).catch((error: Error) => {
    throw isTooMuchError(error)
      ? new MissingDataError(`${error.message}${ANSWER_LIMIT_ADVICE}`, { cause: error })
      : error
  })
  return checkAndSortLogs(logs, addresses, {
    from: header.number,
    to: header.number,
    hash: header.hash,
  })
}

/** Accepts only whole bytes in lower-case hex: other hex could be hashed as one value and decoded as another. */
const isLowerCaseHex = (value: unknown): boolean =>
  typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-f]*$/.test(value)

/** Transaction, block and index of a log, as the database stores them. */
export const logLocation = ({ transactionHash, blockNumber, logIndex }: RawLog) => ({
  txHash: fromHex(transactionHash),
  block: Number(blockNumber),
  logIndex: Number(logIndex),
})

/** Factor of the block number in a log's position: more than the number of logs that a block can have. */
const POSITIONS_PER_BLOCK = 1e6

/** Position of a log in its chain, as one number that grows with block and log index. */
export const logPosition = ({ blockNumber, logIndex }: RawLog): number =>
  Number(blockNumber) * POSITIONS_PER_BLOCK + Number(logIndex)

/** Block number of a log's position (`logPosition`). */
export const blockOfLogPosition = (place: number): number => Math.floor(place / POSITIONS_PER_BLOCK)

/**
 * Checks and sorts a node's logs, and drops duplicates.
 * @throws RpcError transient for a malformed log, or a log outside the requested blocks or contracts
 */
function checkAndSortLogs(
  logs: RawLog[],
  addresses: readonly Hex[],
  { from, to, hash }: { from: number; to: number; hash?: Hex },
): RawLog[] {
  const [first] = addresses
  let isSorted = true
  let previous = -1
  for (const log of logs) {
    const block = parseQuantity(log.blockNumber)
    const { data, transactionHash, blockHash, topics } = log
    if (
      !(
        isLowerCaseHex(data) &&
        isLowerCaseHex(transactionHash) &&
        isLowerCaseHex(blockHash) &&
        topics.every(isLowerCaseHex)
      )
    )
      throw transientError(`eth_getLogs: a log of block ${block} has another form`)
    const index = parseQuantity(log.logIndex)
    if (
      log.removed ||
      block < from ||
      block > to ||
      index >= POSITIONS_PER_BLOCK ||
      (hash && log.blockHash !== hash)
    )
      throw transientError(
        `eth_getLogs: got log ${index} of block ${block} (${log.blockHash}) for blocks ${from}-${to}`,
      )
    if (log.address !== first && !addresses.includes(log.address.toLowerCase() as Hex))
      throw transientError(`eth_getLogs: got a log of contract ${log.address}`)
    const place = block * POSITIONS_PER_BLOCK + index
    if (place <= previous) isSorted = false
    previous = place
  }
  if (isSorted) return logs
  const byPlace = new Map<number, RawLog>()
  for (const log of logs) {
    const place = logPosition(log)
    const other = byPlace.get(place)
    if (other && !isDeepStrictEqual(other, log))
      throw transientError(
        `eth_getLogs: two logs stand at place ${Number(log.logIndex)} of block ${Number(log.blockNumber)}`,
      )
    byPlace.set(place, log)
  }
  return [...byPlace.entries()].sort(([a], [b]) => a - b).map(([, log]) => log)
}
