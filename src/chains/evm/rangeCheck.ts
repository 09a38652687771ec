import { RpcError, transient } from '../rpc/errors.js'
import type { Rpc } from '../rpc/evm.js'
import { type Call, inBatches } from '../rpc/nodes.js'
import {
  assertLinked,
  getBlockLogs,
  getHeader,
  getLogRange,
  type Header,
  type LogFilter,
  type LogRange,
  type RawLog,
} from './logs.js'

const HEADERS_AT_ONCE = 16

/**
 * Reads confirmed logs from a node. Those of blocks below `checkFrom` are compared with another node's answer, where
 * there is one, and later ones with their headers.
 * @returns the headers of the range's ends, too
 * @throws RpcError
 */
export async function readCheckedLogs(
  rpc: Rpc,
  call: Call,
  filter: LogFilter,
  { from, to, checkFrom }: { from: number; to: number; checkFrom: number },
): Promise<LogRange & { first: Header }> {
  const [{ logs, last }, first] = await Promise.all([
    getLogRange(call, filter, from, to),
    from === to ? null : getHeader(call, from),
  ])
  if (from !== to && !first) throw transient(`eth_getBlockByNumber: block ${from} is missing`)
  const firstNew = logs.findIndex(({ blockNumber }) => Number(blockNumber) >= checkFrom)
  const cut = firstNew === -1 ? logs.length : firstNew
  const old = { logs: logs.slice(0, cut), from, to: Math.min(to, checkFrom - 1) }
  const fresh = { from: Math.max(from, checkFrom), last }
  const checked = [
    ...(from < checkFrom ? await compareLogs(rpc, call, filter, old) : []),
    ...(to < checkFrom ? [] : await completeLogs(rpc, call, filter, { ...fresh, logs: logs.slice(cut) })),
  ]
  return { logs: checked, last, first: first ?? last }
}

/**
 * Compares the logs that a node gave for a range of blocks with another node's. Blocks that differ are decided by
 * header and bloom filter.
 * @param call the node that gave `logs`
 * @returns `logs` themselves where no other node answers
 * @throws RpcError, of fault too_much where all other nodes want a smaller range
 */
async function compareLogs(
  rpc: Rpc,
  call: Call,
  filter: LogFilter,
  { logs, from, to }: { logs: readonly RawLog[]; from: number; to: number },
): Promise<readonly RawLog[]> {
  let tooMuch: RpcError | null = null
  const second = await rpc.onAnotherNode(call, (other) =>
    getLogRange(other, filter, from, to).catch((error: Error) => {
      if (error instanceof RpcError && error.fault === 'too_much') tooMuch = error
      // a third node may take as many
      throw error
    }),
  )
  if (!second && tooMuch && to - from >= LEAST_COMPARED_BLOCKS) throw tooMuch
  if (!second) return logs
  const [ours, theirs] = [byBlock(logs), byBlock(second.logs)]
  const isSame = (block: number) => keysOf(ours.get(block)) === keysOf(theirs.get(block))
  const doubtful = [...new Set([...ours.keys(), ...theirs.keys()])].filter((block) => !isSame(block))
  for (const block of doubtful) {
    const header = await getHeader(call, block)
    if (!header) throw transient(`eth_getBlockByNumber: block ${block} is missing`)
    ours.set(block, await logsOfBlock(rpc, call, filter, header))
  }
  return doubtful.length === 0 ? logs : [...ours.entries()].sort(([a], [b]) => a - b).flatMap(([, list]) => list)
}

/** Another node's lower bound on ranges is heeded down to this many blocks: below, reading all would take too long. */
const LEAST_COMPARED_BLOCKS = 500

const keysOf = (logs: readonly RawLog[] = []): string =>
  logs.map(({ blockHash, logIndex, data }) => `${blockHash}/${logIndex}/${data}`).join()

function byBlock(logs: readonly RawLog[]): Map<number, RawLog[]> {
  const blocks = new Map<number, RawLog[]>()
  for (const log of logs) {
    const block = Number(log.blockNumber)
    const list = blocks.get(block)
    if (list) list.push(log)
    else blocks.set(block, [log])
  }
  return blocks
}

/**
 * Checks a node's logs against the headers of blocks `from` to `last`: headers have to be linked, each log has to be in
 * its header's block, and a block without logs must not match by its bloom filter. Missing logs are read block by
 * block.
 * @param logs those from `from` on, in order
 * @throws RpcError transient where headers or logs are not of one chain
 */
async function completeLogs(
  rpc: Rpc,
  call: Call,
  filter: LogFilter,
  { logs, from, last }: { logs: readonly RawLog[]; from: number; last: Header },
): Promise<RawLog[]> {
  const blocks = byBlock(logs)
  const checked: RawLog[] = []
  for (const header of await headersBetween(call, from, last)) {
    const given = blocks.get(header.number)
    if (given?.some(({ blockHash }) => blockHash !== header.hash))
      throw transient(`eth_getLogs: got a log of block ${header.number} from another fork`)
    checked.push(...(given ?? (await logsOfBlock(rpc, call, filter, header))))
  }
  return checked
}

/** The logs of a confirmed block; what one node is not sure of is another's to say. */
async function logsOfBlock(rpc: Rpc, call: Call, filter: LogFilter, header: Header): Promise<RawLog[]> {
  const { logs, isSure } = await getBlockLogs(call, filter, header)
  const second = isSure ? null : await rpc.onAnotherNode(call, (other) => getBlockLogs(other, filter, header))
  return second?.logs ?? logs
}

/** Headers of blocks `from` to `last`, each the parent of the next. */
async function headersBetween(call: Call, from: number, last: Header): Promise<Header[]> {
  const blocks = Array.from({ length: last.number - from }, (_, i) => from + i)
  const below = await inBatches(blocks, HEADERS_AT_ONCE, (block) => getHeader(call, block))
  const headers = [...below.filter((header) => header !== null), last]
  if (headers.length !== last.number - from + 1)
    throw transient(`eth_getBlockByNumber: a block below ${last.number} is missing`)
  assertLinked(headers)
  return headers
}
