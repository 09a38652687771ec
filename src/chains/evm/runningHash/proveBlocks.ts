import { isDeepStrictEqual } from 'node:util'
import { toHex } from '../../../registry/primitives/bytes.js'
import { ContradictingNodeError, MissingDataError, transientError } from '../../rpc/errors.js'
import type { AgreedAnswer, RpcCall } from '../../rpc/nodes.js'
import type { ConfirmedHead, EvmChain } from '../chain.js'
import { type DecodedLogs, mergeDecodedLogs } from '../decodeLogs.js'
import { blockOfLogPosition } from '../logs.js'
import type { RunningHashes } from './hashes.js'
import {
  type CheckedLogRange,
  checkedLogRangeSource,
  hasRunningHashes,
  type LastConfirmedHashes,
  type ProvedLogRange,
  provedRangeOf,
  readAgreedRunningHashes,
  readAgreedRunningHashesOrNull,
  runningHashesAfterLogs,
  runningHashMismatchText,
  type StoredCheckpoint,
} from './prove.js'
import {
  type BlockRangeSource,
  type ConfirmedLogRange,
  hasSameLogs,
  isCoveredByRunningHash,
  proveOnlyRange,
  readBlocksInRanges,
} from './ranges.js'
import { createLogRangeWidth } from './width.js'

/** A block that was read by its hash, with the decoded logs of the chain's watched contracts. */
export interface DecodedBlock {
  block: number
  hash: Buffer
  parentHash: Buffer
  decoded: DecodedLogs
}

/** Logs of blocks, in order. */
export const logsOfBlocks = (blocks: readonly DecodedBlock[]): DecodedLogs =>
  mergeDecodedLogs(blocks.map(({ decoded }) => decoded))

/** The contracts' running hashes as of the block `hash`, requested while logs are still read. */
export interface RequestedRunningHashes {
  hash: Buffer
  runningHashes: ReturnType<typeof readAgreedRunningHashesOrNull>
}

/** The unconfirmed blocks (the tail) above a checkpoint. */
interface KnownTail {
  tail: readonly DecodedBlock[]
  /** Last confirmed block (checkpoint), and the contracts' running hashes after it. */
  place: LastConfirmedHashes
}

const rangeOf = (blocks: readonly DecodedBlock[]): ConfirmedLogRange => ({
  from: blocks[0]!.block,
  to: blocks.at(-1)!.block,
  decoded: logsOfBlocks(blocks),
  parentHash: blocks[0]!.parentHash,
  lastHash: blocks.at(-1)!.hash,
})

/**
 * Proves blocks that were read as unconfirmed (the tail) and are confirmed now. A hub's logs need not be read again if
 * they produce the contracts' running hashes. These do not cover which block a log is in, so two nodes have to confirm
 * the blocks. Where no running hash covers a chain's logs, the blocks are read again. If nodes return only the newest
 * block's running hashes, these prove the whole tail.
 * @throws NoQuorumError, ChainUnavailableError, RpcError; Error whose cause is one of these
 */
export async function proveBlocks(
  chain: EvmChain,
  checkpoint: StoredCheckpoint,
  known: KnownTail & {
    blocks: readonly DecodedBlock[]
    asked: RequestedRunningHashes | null
    /** The highest block that two nodes call confirmed. */
    agreed: ConfirmedHead
  },
): Promise<ProvedLogRange[]> {
  const { blocks, tail, place, asked, agreed } = known
  if (blocks.length === 0) return []
  const seen = rangeOf(blocks)
  const end = { number: seen.to, hash: toHex(seen.lastHash) }
  const isAsked = asked?.hash.equals(seen.lastHash)
  const isKept = hasRunningHashes(chain)
  const own = isKept
    ? await (isAsked ? asked!.runningHashes : readAgreedRunningHashesOrNull(chain, end))
    : null
  const top = isKept && !own ? await readNewestRunningHashes(chain, checkpoint, known) : null
  const made = runningHashesAfterLogs(chain, place.runningHashes, seen.decoded)
  const runningHashes = top ? top.map(() => made) : own
  const source = checkedLogRangeSource(chain, createLogRangeWidth(), {
    from: seen.from,
    before: place,
    known: new Map(runningHashes ? [[seen.to, { hash: seen.lastHash, runningHashes }]] : []),
  })
  if (!isCoveredByRunningHash(chain) || !isDeepStrictEqual(made, runningHashes?.answer))
    return readAnew(chain, source, seen)

  const proved = { ...seen, runningHashes }
  const isKnown = agreed.confirmed === end.number && agreed.confirmedHash === end.hash
  const hasLogs = (top ? tail : blocks).some(({ decoded }) => decoded.places.length > 0)
  if (chain.rpc.size === 1 || (isKnown && !hasLogs))
    return [
      provedRangeOf(
        chain,
        runningHashes!.map(() => proved),
      ),
    ]
  // the running hashes at the newest block prove the logs of the whole tail, so two nodes have to confirm the blocks of
  // all these logs
  const logs = { ...seen, decoded: logsOfBlocks(top ? tail : blocks) }
  const ask = async (call: RpcCall): Promise<CheckedLogRange> => {
    if (await hasSameLogs(call, chain, logs)) return proved
    if (!top) return source.read(call, seen.from, seen.to)
    throw new ContradictingNodeError(`a node has other logs in blocks ${seen.from}-${seen.to}`)
  }
  const about = `the logs of blocks ${seen.from}-${seen.to}`
  const confirmed = await chain.rpc.agreed(ask, { isProved: !top, about })
  await proveOnlyRange(chain, confirmed)
  return [provedRangeOf(chain, confirmed)]
}

/**
 * Reads blocks again that were read while they were unconfirmed.
 * @throws RpcError where one of the tail's logs is missing, or the blocks are of another fork
 */
async function readAnew(
  chain: EvmChain,
  source: BlockRangeSource<CheckedLogRange>,
  { from, to, parentHash, lastHash, decoded }: ConfirmedLogRange,
): Promise<ProvedLogRange[]> {
  const read = await readBlocksInRanges(source, from, to)
  const ranges = read.map(({ answer }) => answer)
  const isSame =
    ranges[0]!.parentHash.equals(parentHash) && ranges.at(-1)!.lastHash.equals(lastHash)
  if (!isSame)
    throw transientError(
      `blocks ${from}-${to} of "${chain.config.label}" are of another fork than before`,
    )

  const places = new Set(ranges.flatMap((range) => range.decoded.places))
  const missing = decoded.places.find((one) => !places.has(one))
  if (missing !== undefined && !isCoveredByRunningHash(chain))
    throw new MissingDataError(
      `a node leaves out a log of block ${blockOfLogPosition(missing)} that was read by the block's hash`,
    )
  return read.map((range) => provedRangeOf(chain, range))
}

/**
 * Running hashes as of the newest known block. All logs above the checkpoint have to produce them. Nodes keep the state of
 * the newest block longest.
 * @throws Error where the logs do not produce them; NoQuorumError, ChainUnavailableError
 */
export async function readNewestRunningHashes(
  chain: EvmChain,
  { parentHash, nextBlock }: StoredCheckpoint,
  { tail, place }: KnownTail,
): Promise<AgreedAnswer<RunningHashes>> {
  const top = tail.at(-1)
  const hash = top?.hash ?? parentHash
  if (!hash) throw transientError('the chain has no confirmed block')
  const number = top?.block ?? nextBlock - 1
  const own = await readAgreedRunningHashes(chain, { number, hash: toHex(hash) })
  const made = runningHashesAfterLogs(chain, place.runningHashes, logsOfBlocks(tail))
  if (isDeepStrictEqual(made, own.answer)) return own
  const logs = `the logs of blocks ${nextBlock}-${number}`
  throw new Error(
    runningHashMismatchText(chain, own, logs, 'a node left some out, and they are read again'),
  )
}
