import { getBlockLogs, getHeader, type Header, type LogFilter, type RawLog } from './logs.js'
import type { Call } from './rpc.js'
import { RpcError } from './rpcErrors.js'

const HEADERS_AT_ONCE = 16

/**
 * Holds the logs that a node gave for a range of blocks against the headers of its blocks from `from` to `last`: each header
 * has to name the one below, each log to be in its header's block, and a block without logs must not have any by its bloom
 * filter. What the range left out is asked for again, block by block.
 * @param logs those of the range, in order; those below `from` are handed through
 * @throws RpcError transient where headers or logs are not of one chain
 */
export async function completeLogs(
  call: Call,
  filter: LogFilter,
  logs: readonly RawLog[],
  { from, last }: { from: number; last: Header },
): Promise<RawLog[]> {
  const byBlock = new Map<number, RawLog[]>()
  for (const log of logs) {
    const block = Number(log.blockNumber)
    const list = byBlock.get(block)
    if (list) list.push(log)
    else byBlock.set(block, [log])
  }
  const checked: RawLog[] = []
  for (const header of await headersBetween(call, from, last)) {
    const given = byBlock.get(header.number)
    if (given?.some(({ blockHash }) => blockHash !== header.hash))
      throw new RpcError('transient', `eth_getLogs: got a log of block ${header.number} from another fork`)
    checked.push(...(given ?? (await getBlockLogs(call, filter, header))))
  }
  const isBelow = ({ blockNumber }: RawLog) => Number(blockNumber) < from
  return logs.filter(isBelow).concat(checked)
}

/** The headers of blocks `from` to `last`, each the parent of the next. */
async function headersBetween(call: Call, from: number, last: Header): Promise<Header[]> {
  const headers: Header[] = []
  for (let block = from; block < last.number; block += HEADERS_AT_ONCE) {
    const size = Math.min(HEADERS_AT_ONCE, last.number - block)
    const chunk = await Promise.all(Array.from({ length: size }, (_, i) => getHeader(call, block + i)))
    headers.push(...chunk.filter((header) => header !== null))
  }
  headers.push(last)
  if (headers.length !== last.number - from + 1)
    throw new RpcError('transient', `eth_getBlockByNumber: a block below ${last.number} is missing`)
  headers.forEach((header, i) => {
    if (i > 0 && header.parentHash !== headers[i - 1]!.hash)
      throw new RpcError('transient', `block ${header.number} does not continue block ${header.number - 1}`)
  })
  return headers
}
