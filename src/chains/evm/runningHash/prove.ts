import { isDeepStrictEqual } from 'node:util'
import type { LogTrustBasis } from '../../../ops/chainState.js'
import { fallbackOnExpectedError } from '../../../ops/logger/errors.js'
import { toHex } from '../../../registry/primitives/bytes.js'
import {
  ContradictingNodeError,
  MissingDataError,
  RefutedAnswerError,
  RpcError,
  transientError,
} from '../../rpc/errors.js'
import {
  type AgreedAnswer,
  isSilenceOfNodes,
  NodesSilentError,
  type RpcCall,
} from '../../rpc/nodes.js'
import type { ConfirmedHead, EvmChain } from '../chain.js'
import { type DecodedBlock, type DecodedLogs, logsOfBlocks } from '../decodeLogs.js'
import { blockOfLogPosition, getBlockHeader } from '../logs.js'
import {
  type BlockNumberAndHash,
  contractsWithRunningHash,
  decodeRunningHashes,
  extendRunningHashes,
  type RunningHashes,
  readRunningHashes,
} from './hashes.js'
import {
  type BlockRangeSource,
  type ConfirmedLogRange,
  hasSameLogs,
  isCoveredByRunningHash,
  logRangeSource,
  rangeOfBlocks,
  readBlocksInRanges,
  requireAgreedLastBlock,
} from './ranges.js'
import { createLogRangeWidth, type LogRangeWidth } from './width.js'

/** A chain's cursor as the database stores it. */
export interface StoredCursor {
  /** The first block that is not in the journal. */
  nextBlock: number
  /** Hash of block `nextBlock` - 1. Null before the first block. */
  parentHash: Buffer | null
  /** Running hashes after block `nextBlock` - 1 (`encodeRunningHashes`). Null where none are stored. */
  record: Buffer | null
}

export const hasRunningHashes = ({ config }: EvmChain): boolean =>
  contractsWithRunningHash(config).length > 0

/** Basis of trust in logs: whether a running hash covers the chain's logs, and the number of nodes that agreed. */
export function trustBasisOf(chain: EvmChain, nodes: number): LogTrustBasis {
  if (isCoveredByRunningHash(chain)) return { trust: 'proved', nodes }
  return { trust: nodes > 1 ? 'compared' : 'trusted', nodes }
}

/**
 * Error message for logs that do not produce the running hashes that nodes return.
 * @param logs text that names the logs
 * @param advice what follows, or what the operator has to do
 */
export const runningHashMismatchText = (
  { config }: EvmChain,
  { givers }: AgreedAnswer<RunningHashes>,
  logs: string,
  advice: string,
): string =>
  `${logs} of chain "${config.label}" do not produce its contracts' running hashes, which ${givers.map(({ host }) => host).join(' and ')} gave: ${advice}`

/**
 * Reads the running hashes that a chain's contracts keep of their logs, as of a block. Where two nodes are configured,
 * two have to return equal hashes.
 * @throws NoQuorumError, ChainUnavailableError where too few nodes return the hashes
 */
export async function readAgreedRunningHashes(
  { rpc, config }: EvmChain,
  block: BlockNumberAndHash,
): Promise<AgreedAnswer<RunningHashes>> {
  try {
    return await rpc.agreed((call) => readRunningHashes(call, config, block), {
      about: `the running hash of block ${block.number}`,
    })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    throw new NodesSilentError(
      `chain "${config.label}": its contracts' running hashes at block ${block.number} can't be read: ${error.message}`,
      { cause: error },
    )
  }
}

/**
 * Like `readAgreedRunningHashes`, but null where nodes do not return the running hashes of this block. Nodes may still
 * return the hashes of a newer block.
 * @throws NodesDisagreeError
 */
export const readAgreedRunningHashesOrNull = (
  chain: EvmChain,
  block: BlockNumberAndHash,
): Promise<AgreedAnswer<RunningHashes> | null> =>
  fallbackOnExpectedError(readAgreedRunningHashes(chain, block), isSilenceOfNodes, null)

/**
 * Running hashes at a chain's cursor, and the basis of trust in them (null where nodes no longer return them). The hashes
 * were stored with the cursor. A contract that was configured later starts with the hash that the nodes return. A hub
 * starts with zero at `startBlock`, so a hub with logs before `startBlock` is detected.
 * @returns `runningHashes` null where neither the database nor the nodes have them: after a rewind to a block whose
 * state the nodes have pruned
 * @throws Error where the contracts contradict the stored hashes; NodesDisagreeError, ChainUnavailableError
 */
export async function readLastConfirmedHashes(
  chain: EvmChain,
  { parentHash, nextBlock, record }: StoredCursor,
): Promise<{ runningHashes: RunningHashes | null; trustBasis: LogTrustBasis | null }> {
  const { config, rpc } = chain
  const contracts = contractsWithRunningHash(config)
  const number = nextBlock - 1
  const isAsked = contracts.length > 0 && number >= 0
  const header =
    isAsked && !parentHash ? await rpc.onOneNode((call) => getBlockHeader(call, number)) : null
  const hash = parentHash ? toHex(parentHash) : header?.hash
  const agreedHashes =
    isAsked && hash ? await readAgreedRunningHashesOrNull(chain, { number, hash }) : null
  const stored = parentHash ? decodeRunningHashes(config, parentHash, record) : []
  const zero = Buffer.alloc(32)
  const hashes = contracts.map(({ kind }, i) => {
    const known = stored[i] ?? (!parentHash && kind === 'hub' ? zero : null)
    if (known && agreedHashes && !agreedHashes.answer[i]!.equals(known))
      throw new Error(
        parentHash
          ? runningHashMismatchText(
              chain,
              agreedHashes,
              `the journal's logs up to block ${number}`,
              `\`clusterd journal rewind --chain ${config.label} --block ${config.startBlock}\` reads them again`,
            )
          : `the hub of chain "${config.label}" has logs before \`startBlock\` ${nextBlock}: set it to the block of the hub's deployment`,
      )
    return known ?? agreedHashes?.answer[i] ?? null
  })
  // hashes were stored, but of another block, and nodes return none for this block: the chain was rewound
  const isRewound = contracts.length > 0 && parentHash && record && hashes.every((one) => !one)
  if (isRewound || contracts[hashes.indexOf(null)]?.kind === 'hub')
    return { runningHashes: null, trustBasis: null }
  return {
    // a payments contract whose running hash no node returns counts as zero: it is deployed later, or the next range
    // will not match
    runningHashes: hashes.map((one) => one ?? zero),
    trustBasis: agreedHashes && trustBasisOf(chain, agreedHashes.nodes),
  }
}

/** Extends running hashes by logs, and measures the time as the `decode` stage of the chain's loop. */
export const runningHashesAfterLogs = (
  { stages }: EvmChain,
  before: RunningHashes,
  { runningHashInputs }: Pick<DecodedLogs, 'runningHashInputs'>,
): RunningHashes => stages.work('decode', () => extendRunningHashes(before, runningHashInputs))

/**
 * Checks that the running hashes `before`, extended by the range's logs, equal the hashes `after`.
 * @throws RpcError where they differ: RefutedAnswerError if running hashes cover all logs of the chain, since then the
 * node is proven wrong
 */
function assertLogsProduceHashes(
  chain: EvmChain,
  before: RunningHashes,
  { from, to, decoded }: ConfirmedLogRange,
  after: RunningHashes,
): void {
  if (isDeepStrictEqual(runningHashesAfterLogs(chain, before, decoded), after)) return
  const message = `the logs of blocks ${from}-${to} do not produce the contracts' running hashes`
  throw isCoveredByRunningHash(chain)
    ? new RefutedAnswerError(message)
    : new ContradictingNodeError(message)
}

/**
 * A range whose logs produce the contracts' running hashes at the range's end. `runningHashes` is null where the logs
 * were not checked: nodes no longer return the hashes, or the contracts keep none.
 */
export type CheckedLogRange = ConfirmedLogRange & {
  runningHashes: AgreedAnswer<RunningHashes> | null
}

/**
 * Basis of trust in the logs of a range.
 * @throws RpcError where the running hashes of the chain's contracts are not known
 */
export function trustBasisOfRange(
  chain: EvmChain,
  { answer: { from, to, runningHashes }, nodes }: AgreedAnswer<CheckedLogRange>,
): LogTrustBasis {
  if (!runningHashes && hasRunningHashes(chain))
    throw transientError(`the running hashes of blocks ${from}-${to} are not known`)
  const hashNodes = runningHashes?.nodes ?? nodes
  return trustBasisOf(chain, isCoveredByRunningHash(chain) ? hashNodes : Math.min(nodes, hashNodes))
}

/** Reads the running hashes as of a block, by its number and hash. Null where nodes do not return them. */
export type RunningHashReader = (
  number: number,
  hash: Buffer,
) => Promise<AgreedAnswer<RunningHashes> | null>

/** Start of a series of ranges. */
interface RangeSeriesStart {
  from: number
  /** The contracts' running hashes before block `from`. */
  before: RunningHashes
  hashesAt: RunningHashReader
}

/**
 * Source of a chain's confirmed logs. Each node's logs are checked against the running hashes at both ends of the range.
 * If the block timestamps in the logs do not produce the hashes, the range is read again with the headers' timestamps.
 */
export function checkedLogRangeSource(
  chain: EvmChain,
  width: LogRangeWidth,
  { from: start, before, hashesAt }: RangeSeriesStart,
): BlockRangeSource<CheckedLogRange> {
  const source = logRangeSource(chain, width)
  const timed = logRangeSource(chain, width, false)

  const readBy =
    ({ read }: typeof source): BlockRangeSource<CheckedLogRange>['read'] =>
    async (call, from, to, first) => {
      const range = await read(call, from, to, first)
      if (first && range === first) return first
      if (!hasRunningHashes(chain)) return { ...range, runningHashes: null }
      const hashesBefore = from === start ? null : await hashesAt(from - 1, range.parentHash)
      const earlier = from === start ? before : hashesBefore?.answer
      const runningHashes = await hashesAt(to, range.lastHash)
      if (!earlier || !runningHashes) return { ...range, runningHashes: null }
      assertLogsProduceHashes(chain, earlier, range, runningHashes.answer)
      return { ...range, runningHashes }
    }

  return {
    ...source,
    async read(...question) {
      try {
        return await readBy(source)(...question)
      } catch (error) {
        if (!(error instanceof RefutedAnswerError)) throw error
        return readBy(timed)(...question)
      }
    },
  }
}

/** The unconfirmed blocks (the tail) above a cursor, and the running hashes at the cursor. */
interface UnconfirmedTail {
  tail: readonly DecodedBlock[]
  before: RunningHashes
}

/**
 * Proves blocks that were read as unconfirmed (the tail) and are confirmed now. A hub's logs need not be read again if
 * they produce the contracts' running hashes. The hashes do not cover which block a log is in, so two nodes have to
 * confirm the blocks. Where no running hash covers a chain's logs, the blocks are read again. If nodes return only the
 * newest block's running hashes, those hashes prove the whole tail.
 * @throws NoQuorumError, ChainUnavailableError, RpcError; Error whose cause is one of these; Error where the tail's logs
 * do not produce the newest block's hashes
 */
export async function proveBlocks(
  chain: EvmChain,
  cursor: StoredCursor,
  known: UnconfirmedTail & {
    blocks: readonly DecodedBlock[]
    hashesAt: RunningHashReader
    /** The highest block that two nodes call confirmed. */
    agreed: ConfirmedHead
  },
): Promise<AgreedAnswer<CheckedLogRange>[]> {
  const { blocks, tail, before, hashesAt, agreed } = known
  if (blocks.length === 0) return []
  const seen = rangeOfBlocks(blocks)
  const isKept = hasRunningHashes(chain)
  const hashesAtEnd = isKept ? await hashesAt(seen.to, seen.lastHash) : null
  const top = isKept && !hashesAtEnd ? await readNewestRunningHashes(chain, cursor, known) : null
  const made = runningHashesAfterLogs(chain, before, seen.decoded)
  const runningHashes = top ? top.map(() => made) : hashesAtEnd
  const sourceOf = () =>
    checkedLogRangeSource(chain, createLogRangeWidth(), {
      from: seen.from,
      before,
      hashesAt: async (number, hash) =>
        hash.equals(seen.lastHash) ? runningHashes : hashesAt(number, hash),
    })
  if (!isCoveredByRunningHash(chain) || !isDeepStrictEqual(made, runningHashes?.answer))
    return readBlocksAgain(chain, sourceOf(), seen)

  const proved = { ...seen, runningHashes }
  const isKnown = agreed.confirmed === seen.to && agreed.confirmedHash === toHex(seen.lastHash)
  // the running hashes at the newest block prove the logs of the whole tail, so two nodes have to confirm the blocks of
  // all these logs
  const decoded = logsOfBlocks(top ? tail : blocks)
  if (chain.rpc.size === 1 || (isKnown && decoded.places.length === 0))
    return [runningHashes!.map(() => proved)]
  const ask = async (call: RpcCall): Promise<CheckedLogRange> => {
    if (await hasSameLogs(call, chain, { ...seen, decoded })) return proved
    if (!top) return sourceOf().read(call, seen.from, seen.to)
    throw new ContradictingNodeError(`a node has other logs in blocks ${seen.from}-${seen.to}`)
  }
  const about = `the logs of blocks ${seen.from}-${seen.to}`
  const confirmed = await chain.rpc.agreed(ask, { isProved: !top, about })
  await requireAgreedLastBlock(chain, confirmed)
  return [confirmed]
}

/**
 * Reads blocks again that were read while they were unconfirmed.
 * @throws RpcError where the blocks are of another fork, or where a log that was read before is missing and no running
 * hash covers the chain's logs; errors of `readBlocksInRanges`
 */
async function readBlocksAgain(
  chain: EvmChain,
  source: BlockRangeSource<CheckedLogRange>,
  { from, to, parentHash, lastHash, decoded }: ConfirmedLogRange,
): Promise<AgreedAnswer<CheckedLogRange>[]> {
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
  return read
}

/**
 * Running hashes as of the newest known block, which all logs above the cursor have to produce. Nodes keep the state of
 * the newest block longest.
 * @throws Error where the logs do not produce the hashes; NoQuorumError, ChainUnavailableError; RpcError where no block
 * is known
 */
export async function readNewestRunningHashes(
  chain: EvmChain,
  { parentHash, nextBlock }: StoredCursor,
  { tail, before }: UnconfirmedTail,
): Promise<AgreedAnswer<RunningHashes>> {
  const top = tail.at(-1)
  const hash = top?.hash ?? parentHash
  if (!hash) throw transientError('the chain has no confirmed block')
  const number = top?.block ?? nextBlock - 1
  const agreedHashes = await readAgreedRunningHashes(chain, { number, hash: toHex(hash) })
  const made = runningHashesAfterLogs(chain, before, logsOfBlocks(tail))
  if (isDeepStrictEqual(made, agreedHashes.answer)) return agreedHashes
  const logs = `the logs of blocks ${nextBlock}-${number}`
  throw new Error(
    runningHashMismatchText(
      chain,
      agreedHashes,
      logs,
      'a node left some out, and they are read again',
    ),
  )
}
