import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { LogTrustBasis } from '../../../ops/chainState.js'
import { fallbackOnExpectedError } from '../../../ops/log/errors.js'
import { fromHex, toHex } from '../../../registry/primitives/bytes.js'
import { ChainUnavailableError } from '../../chain.js'
import {
  ContradictingNodeError,
  RefutedAnswerError,
  RpcError,
  transientError,
} from '../../rpc/errors.js'
import { type AgreedAnswer, NodesDisagreeError, NodesSilentError } from '../../rpc/nodes.js'
import type { EvmChain } from '../chain.js'
import type { DecodedLogs } from '../decodeLogs.js'
import { getBlockHeader } from '../logs.js'
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
  isCoveredByRunningHash,
  logRangeSource,
} from './ranges.js'
import type { LogRangeWidth } from './width.js'

/** A chain's checkpoint as the database stores it. */
export interface StoredCheckpoint {
  /** The first block that is not in the journal. */
  nextBlock: number
  /** Hash of the block before. Null before the first block. */
  parentHash: Buffer | null
  /** Running hashes after that block (`encodeRunningHashes`). */
  record: Buffer | null
}

/** Where the next range of confirmed logs has to attach: the last confirmed block, and the running hashes after it. */
export interface LastConfirmedHashes {
  /** Hash of the last confirmed block. Null before the first block. */
  lastHash: Buffer | null
  /** Running hashes over all logs so far. */
  runningHashes: RunningHashes
}

/** Confirmed logs, with the block and the running hashes at their end, and how far they can be trusted (`ground`). */
export type ProvedLogRange = ConfirmedLogRange &
  LastConfirmedHashes & { lastHash: Buffer; ground: LogTrustBasis }

export const hasRunningHashes = ({ config }: EvmChain): boolean =>
  contractsWithRunningHash(config).length > 0

/** How far logs can be trusted: whether a running hash covers the chain's logs, and how many nodes agreed. */
export function trustBasisOf(chain: EvmChain, nodes: number): LogTrustBasis {
  if (isCoveredByRunningHash(chain)) return { trust: 'proved', nodes }
  return { trust: nodes > 1 ? 'compared' : 'trusted', nodes }
}

/**
 * Error message for logs that do not produce the running hashes that nodes return.
 * @param logs names the logs @param what what to do
 */
export const runningHashMismatchText = (
  { config }: EvmChain,
  { givers }: AgreedAnswer<RunningHashes>,
  logs: string,
  what: string,
): string =>
  `${logs} of chain "${config.label}" do not produce its contracts' running hashes, which ${givers.map(({ host }) => host).join(' and ')} gave: ${what}`

/**
 * Reads the running hashes that a chain's contracts keep of their logs, as of a block. Where two nodes are configured,
 * two have to return equal hashes.
 * @throws NoQuorumError, ChainUnavailableError where they are not known
 */
export async function readAgreedRunningHashes(
  { rpc, config }: EvmChain,
  { hash, number }: BlockNumberAndHash,
): Promise<AgreedAnswer<RunningHashes>> {
  try {
    return await rpc.agreed((call) => readRunningHashes(call, config, fromHex(hash), number), {
      about: `the running hash of block ${number}`,
    })
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    throw new NodesSilentError(
      `chain "${config.label}": its contracts' running hashes at block ${number} can't be read: ${error.message}`,
      { cause: error },
    )
  }
}

/**
 * Like `readAgreedRunningHashes`, but null where nodes do not return the running hashes of this block. They may return
 * those of another block.
 * @throws NodesDisagreeError
 */
export const readAgreedRunningHashesOrNull = (
  chain: EvmChain,
  block: BlockNumberAndHash,
): Promise<AgreedAnswer<RunningHashes> | null> =>
  fallbackOnExpectedError(readAgreedRunningHashes(chain, block), isUnknown, null)

const isUnknown = (error: unknown): boolean =>
  error instanceof ChainUnavailableError && !(error instanceof NodesDisagreeError)

/**
 * Last block and running hashes at a chain's checkpoint, and how far nodes confirm them: null where nodes no longer
 * return them. They were stored with the checkpoint. A contract that was configured later starts with the running hash
 * that the nodes return. A hub's is zero before its first block, so a hub with logs before `startBlock` is detected.
 * `place` is null where neither the database nor the nodes have the running hashes: after a rewind to a block whose state
 * the nodes have pruned.
 * @throws Error where the contracts contradict the stored hashes; NodesDisagreeError, ChainUnavailableError
 */
export async function readLastConfirmedHashes(
  chain: EvmChain,
  { parentHash, nextBlock, record }: StoredCheckpoint,
): Promise<{ place: LastConfirmedHashes | null; ground: LogTrustBasis | null }> {
  const { config, rpc } = chain
  const contracts = contractsWithRunningHash(config)
  const number = nextBlock - 1
  const isAsked = contracts.length > 0 && number >= 0
  const header =
    isAsked && !parentHash ? await rpc.onOneNode((call) => getBlockHeader(call, number)) : null
  const hash = parentHash ? toHex(parentHash) : header?.hash
  const own = isAsked && hash ? await readAgreedRunningHashesOrNull(chain, { number, hash }) : null
  const stored = parentHash ? decodeRunningHashes(config, parentHash, record) : []
  const zero = Buffer.alloc(32)
  const hashes = contracts.map(({ kind }, i) => {
    const known = stored[i] ?? (!parentHash && kind === 'hub' ? zero : null)
    if (known && own && !own.answer[i]!.equals(known))
      throw new Error(
        parentHash
          ? runningHashMismatchText(
              chain,
              own,
              `the journal's logs up to block ${number}`,
              `\`clusterd journal rewind --chain ${config.label} --block ${config.startBlock}\` reads them again`,
            )
          : `the hub of chain "${config.label}" has logs before \`startBlock\` ${nextBlock}: set it to the block of the hub's deployment`,
      )
    return known ?? own?.answer[i] ?? null
  })
  // stored hashes that have none of the contracts are of another block: the chain was rewound
  const isRewound = contracts.length > 0 && parentHash && record && hashes.every((one) => !one)
  if (isRewound || contracts[hashes.indexOf(null)]?.kind === 'hub')
    return { place: null, ground: null }
  return {
    // a payments contract whose running hash no node returns counts as zero: it is deployed later, or the next range
    // will not match
    place: { lastHash: parentHash, runningHashes: hashes.map((one) => one ?? zero) },
    ground: own && trustBasisOf(chain, own.nodes),
  }
}

/** Extends running hashes by logs, and measures the time as the `decode` stage of the chain's loop. */
export const runningHashesAfterLogs = (
  { stages }: EvmChain,
  before: RunningHashes,
  { runningHashInputs }: Pick<DecodedLogs, 'runningHashInputs'>,
): RunningHashes => stages.work('decode', () => extendRunningHashes(before, runningHashInputs))

/**
 * Checks that the running hashes `before`, extended by the range's logs, equal those `after`. @throws RpcError where they
 * do not. If they cover all logs of the chain, the node is proven wrong (RefutedAnswerError).
 */
function assertProduce(
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
 * A range whose logs produce the contracts' running hashes at its end. They are null where nodes no longer return them, or
 * the contracts keep none.
 */
export type CheckedLogRange = ConfirmedLogRange & {
  runningHashes: AgreedAnswer<RunningHashes> | null
}

/**
 * Adds to a range how far it can be trusted.
 * @throws RpcError where the running hashes of the chain's contracts are not known
 */
export function provedRangeOf(
  chain: EvmChain,
  { answer: range, nodes }: AgreedAnswer<CheckedLogRange>,
): ProvedLogRange {
  const { from, to, runningHashes } = range
  if (!runningHashes && hasRunningHashes(chain))
    throw transientError(`the running hashes of blocks ${from}-${to} are not known`)
  const hashNodes = runningHashes?.nodes ?? nodes
  const least = isCoveredByRunningHash(chain) ? hashNodes : Math.min(nodes, hashNodes)
  const ground = trustBasisOf(chain, least)
  return { ...range, runningHashes: runningHashes?.answer ?? [], ground }
}

/** Running hashes at the ends of ranges, by the number of a range's last block, with that block's hash. */
export type KnownRunningHashes = ReadonlyMap<
  number,
  { hash: Buffer; runningHashes: AgreedAnswer<RunningHashes> }
>

/** Number of cached running hashes: more than the ranges that are read at once. A catch-up reads some 100,000 ranges. */
const HASHES_KEPT = 64

/** Start of a series of ranges, and the running hashes that are already known. */
interface RangesStart {
  from: number
  /** Last block before `from`, and the contracts' running hashes as of that block. */
  before: LastConfirmedHashes
  /** Running hashes that need not be read from nodes. */
  known: KnownRunningHashes
}

/**
 * Source of a chain's confirmed logs. Each node's logs are checked against the running hashes at both ends of the range.
 * If the times in the logs do not produce them, the range is read again with the times in the headers.
 */
export function checkedLogRangeSource(
  chain: EvmChain,
  width: LogRangeWidth,
  { from: start, before, known }: RangesStart,
): BlockRangeSource<CheckedLogRange> {
  const source = logRangeSource(chain, width)
  const timed = logRangeSource(chain, width, false)
  const asked = new LRUCache<string, ReturnType<typeof readAgreedRunningHashesOrNull>>({
    max: HASHES_KEPT,
  })

  /** The running hashes after a block, read once for both ranges that meet there. */
  const hashesAfter = async (number: number, lastHash: Buffer) => {
    const one = known.get(number)
    if (one?.hash.equals(lastHash)) return one.runningHashes
    const hash = toHex(lastHash)
    const hashes = asked.get(hash) ?? readAgreedRunningHashesOrNull(chain, { number, hash })
    asked.set(hash, hashes)
    return hashes
  }

  const readBy =
    ({ read }: typeof source): BlockRangeSource<CheckedLogRange>['read'] =>
    async (call, from, to, first) => {
      const range = await read(call, from, to, first)
      if (first && range === first) return first
      if (!hasRunningHashes(chain)) return { ...range, runningHashes: null }
      const own = from === start ? null : await hashesAfter(from - 1, range.parentHash)
      const earlier = from === start ? before.runningHashes : own?.answer
      const runningHashes = await hashesAfter(to, range.lastHash)
      if (!earlier || !runningHashes) return { ...range, runningHashes: null }
      assertProduce(chain, earlier, range, runningHashes.answer)
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
