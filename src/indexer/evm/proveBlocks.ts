import { isDeepStrictEqual } from 'node:util'
import type { ConfirmedHead, EvmChain } from '../../chains/evm/chain.js'
import { blockOfLogPosition } from '../../chains/evm/logs.js'
import type { RunningHashes } from '../../chains/evm/record.js'
import {
  ContradictingNodeError,
  MissingDataError,
  transientError,
} from '../../chains/rpc/errors.js'
import type { AgreedAnswer, RpcCall } from '../../chains/rpc/nodes.js'
import type { ChainRow } from '../../db/journal/chains.js'
import {
  checkedLogRangeSource,
  hasRunningHashes,
  type LastConfirmedHashes,
  type ProvedLogRange,
  provedRangeOf,
  type RangeWithCheckedHashes,
  readAgreedRunningHashes,
  readAgreedRunningHashesOrNull,
  runningHashesAfterLogs,
  runningHashMismatchText,
} from '../../record/prove.js'
import {
  assertCanonical,
  type BlockRangeSource,
  type ConfirmedLogRange,
  hasSameLogs,
  isCoveredByRunningHash,
  readBlocksInRanges,
} from '../../record/ranges.js'
import { createLogRangeWidth } from '../../record/width.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { logsOfBlocks, type UnconfirmedBlock } from './types.js'

/** The contracts' record (running hashes) as of the block `hash`, requested while logs are still read. */
export interface RequestedRunningHashes {
  hash: Buffer
  record: ReturnType<typeof readAgreedRunningHashesOrNull>
}

/** The unconfirmed blocks (the tail) above a checkpoint. */
interface KnownTail {
  tail: readonly UnconfirmedBlock[]
  /** Last confirmed block (checkpoint), and the contracts' record after it. */
  place: LastConfirmedHashes
}

const rangeOf = (blocks: readonly UnconfirmedBlock[]): ConfirmedLogRange => ({
  from: blocks[0]!.block,
  to: blocks.at(-1)!.block,
  decoded: logsOfBlocks(blocks),
  parentHash: blocks[0]!.parentHash,
  lastHash: blocks.at(-1)!.hash,
})

/**
 * Proves blocks that were read as unconfirmed (the tail) and are confirmed now. A hub's logs need not be read again if
 * they produce the contracts' record (running hash). The record does not cover which block a log is in, so a second
 * node has to confirm the blocks. Where no record covers a chain's logs, the blocks are read again. If nodes return
 * only the newest block's record, it proves the whole tail.
 * @throws NoQuorumError, ChainUnavailableError, RpcError; Error whose cause is one of these
 */
export async function proveBlocks(
  chain: EvmChain,
  row: ChainRow,
  known: KnownTail & {
    blocks: readonly UnconfirmedBlock[]
    asked: RequestedRunningHashes | null
    /** The highest block that two nodes call confirmed. */
    agreed: ConfirmedHead
  },
): Promise<ProvedLogRange[]> {
  const { blocks, tail, place, asked, agreed } = known
  if (blocks.length === 0) return []
  const seen = rangeOf(blocks)
  const keeps = hasRunningHashes(chain)
  const isAsked = asked?.hash.equals(seen.lastHash)
  const end = { number: seen.to, hash: toHex(seen.lastHash) }
  const own = keeps
    ? await (isAsked ? asked!.record : readAgreedRunningHashesOrNull(chain, end))
    : null
  const top = keeps && !own ? await readNewestRunningHashes(chain, row, known) : null
  const answer = runningHashesAfterLogs(chain, place.record, seen.decoded)
  const record = top ? top.map(() => answer) : own
  const source = checkedLogRangeSource(chain, createLogRangeWidth(), {
    from: seen.from,
    before: place,
    known: new Map(record ? [[seen.to, { hash: seen.lastHash, record }]] : []),
  })
  if (!isCoveredByRunningHash(chain) || !isDeepStrictEqual(answer, record?.answer))
    return readAnew(chain, source, seen)

  const proved = { ...seen, record }
  const isAlone = chain.rpc.size === 1
  if (isAlone || (!top && seen.decoded.places.length === 0)) {
    const isAgreed = agreed.confirmed === end.number && agreed.confirmedHash === end.hash
    if (!isAgreed) await assertCanonical(chain, end)
    return [provedRangeOf(chain, { ...proved, nodes: 1 })]
  }
  // the running hashes at the newest block prove the logs of the whole tail, so the second node has to confirm the
  // blocks of all these logs
  const logs = { ...seen, decoded: logsOfBlocks(top ? tail : blocks) }
  const ask = async (call: RpcCall): Promise<RangeWithCheckedHashes> => {
    if (await hasSameLogs(call, chain, logs)) return proved
    if (!top) return source.read(call, seen.from, seen.to)
    throw new ContradictingNodeError(`a node has other logs in blocks ${seen.from}-${seen.to}`)
  }
  const confirmed = await chain.rpc.agreed(ask, { isProved: !top })
  // other nodes' logs were refuted, but two nodes have to have the block
  if (confirmed.nodes < chain.rpc.needed) await assertCanonical(chain, end)
  return [provedRangeOf(chain, { ...confirmed.answer, nodes: confirmed.nodes })]
}

/**
 * Reads blocks again that were read while they were unconfirmed.
 * @throws RpcError where one of the tail's logs is missing, or the blocks are of another fork
 */
async function readAnew(
  chain: EvmChain,
  source: BlockRangeSource<RangeWithCheckedHashes>,
  { from, to, parentHash, lastHash, decoded }: ConfirmedLogRange,
): Promise<ProvedLogRange[]> {
  const read = await readBlocksInRanges(source, from, to)
  const isSame = read[0]!.parentHash.equals(parentHash) && read.at(-1)!.lastHash.equals(lastHash)
  if (!isSame)
    throw transientError(
      `blocks ${from}-${to} of "${chain.config.label}" are of another fork than before`,
    )

  const places = new Set(read.flatMap((part) => part.decoded.places))
  const missing = decoded.places.find((one) => !places.has(one))
  if (missing !== undefined && !isCoveredByRunningHash(chain))
    throw new MissingDataError(
      `a node leaves out a log of block ${blockOfLogPosition(missing)} that was read by the block's hash`,
    )
  return read.map((part) => provedRangeOf(chain, part))
}

/**
 * Record (running hashes) as of the newest known block. All logs above the checkpoint have to produce this record.
 * Nodes keep the state of the newest block longest.
 * @throws Error where the logs do not produce the record; NoQuorumError, ChainUnavailableError
 */
export async function readNewestRunningHashes(
  chain: EvmChain,
  row: ChainRow,
  { tail, place }: KnownTail,
): Promise<AgreedAnswer<RunningHashes>> {
  const top = tail.at(-1)
  const hash = top?.hash ?? row.parentHash
  if (!hash) throw transientError('the chain has no confirmed block')
  const number = top?.block ?? row.nextBlock - 1
  const own = await readAgreedRunningHashes(chain, { number, hash: toHex(hash) })
  const made = runningHashesAfterLogs(chain, place.record, logsOfBlocks(tail))
  if (!isDeepStrictEqual(made, own.answer)) throw new Error(runningHashMismatchText(chain, number))
  return own
}
