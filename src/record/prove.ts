import { isDeepStrictEqual } from 'node:util'
import type { EvmChain } from '../chains/evm/chain.js'
import { getHeader } from '../chains/evm/logs.js'
import {
  type ChainRecord,
  emptyRecord,
  foldRecord,
  readRecord,
  storedRecord,
} from '../chains/evm/record.js'
import { LackingError, RefutedError, transient } from '../chains/rpc/errors.js'
import { DisagreementError, orIfDisputed } from '../chains/rpc/nodes.js'
import type { ChainRow } from '../db/journal/chains.js'
import type { Trust } from '../ops/chainState.js'
import { orIf } from '../ops/log/errors.js'
import { fromHex } from '../registry/primitives/bytes.js'
import { type ConfirmedRange, inRanges, isSame, type RangeSource, readRange } from './ranges.js'

/** Place that the next confirmed logs have to continue. */
export interface Place {
  /** Hash of the last block before; null before the first block. */
  lastHash: Buffer | null
  /** Record of all logs before, null where it is not known. */
  record: ChainRecord | null
  trust: Trust
}

/** Confirmed logs, which are a place themselves. */
export type ProvedRange = ConfirmedRange & Pick<Place, 'record' | 'trust'>

/** Ground for logs that nodes gave alike, and a record that the contracts gave. */
const trustIn = ({ config }: EvmChain, own: ChainRecord | null): Trust => {
  if (own && config.role === 'hub') return 'proved'
  return config.rpcUrls.length > 1 ? 'compared' : 'trusted'
}

/** Sentence for logs in the journal that are not the contracts'. */
export const unrecorded = ({ config }: EvmChain, block: number): string =>
  `the logs of chain "${config.label}" up to block ${block} do not make its contracts' record: \`startBlock\` is behind the first of them, or a node left some out; \`clusterd journal rewind --chain ${config.label} --block ${config.startBlock}\` with another node brings them in`

/**
 * Record that a chain's contracts keep as of a block, by two nodes where two answer; null where no node has the block's
 * state, nodes contradict each other, or a contract keeps none.
 * @throws ChainUnavailableError
 */
export const recordAt = (
  { rpc, config }: EvmChain,
  blockHash: Buffer,
): Promise<ChainRecord | null> =>
  orIfDisputed(
    rpc.quorum((call) => readRecord(call, config, blockHash)),
    null,
  )

/**
 * Place of a chain's checkpoint. Its record was stored with it; where none was, it begins at the contracts' own word
 * there, but a hub's is zero before its first block, so logs before `startBlock` show.
 * @throws Error where the contracts contradict what is stored; ChainUnavailableError
 */
export async function placeOf(
  chain: EvmChain,
  { parentHash, nextBlock, record }: ChainRow,
): Promise<Place> {
  const { config, rpc } = chain
  const header =
    parentHash || nextBlock === 0
      ? null
      : await rpc.onOneNode((call) => getHeader(call, nextBlock - 1))
  const at = parentHash ?? (header && fromHex(header.hash))
  const own = at && (await recordAt(chain, at))
  const first = emptyRecord(config).map((zero, i) =>
    i === 0 && config.role === 'hub' ? zero : (own?.[i] ?? zero),
  )
  const stored = parentHash ? record && storedRecord(config, parentHash, record) : first
  if (own && stored && !isDeepStrictEqual(own, stored))
    throw new Error(unrecorded(chain, nextBlock - 1))
  return { lastHash: parentHash, record: stored ?? own, trust: trustIn(chain, own) }
}

/** Blocks about whose logs nodes contradict each other. */
interface Disputed {
  from: number
  to: number
  decoded?: undefined
}

/** Reads ranges for `prove`. */
export const toldRanges = (ranges: RangeSource<ConfirmedRange>, from: number, to: number) =>
  orIf(
    inRanges(ranges, from, to),
    (error) => error instanceof Error && error.cause instanceof DisagreementError,
    [{ from, to } as Disputed],
  )

export const makesRecord = ({ record }: Place, { decoded, own }: ConfirmedRange): boolean =>
  own !== null && record !== null && isDeepStrictEqual(foldRecord(record, decoded.record), own)

/**
 * Proves logs: with those before they have to make the contracts' record, as nodes tell it. Where they don't, or nodes
 * contradict each other, each is asked by itself: who refutes itself has no say, all others have to agree.
 * @throws DisagreementError where they don't; ChainUnavailableError where no node's logs make the record
 */
export async function prove(
  chain: EvmChain,
  before: Place,
  told: ConfirmedRange | Disputed,
): Promise<ProvedRange> {
  const provedBy = (range: ConfirmedRange) => ({
    ...range,
    record: range.own,
    trust: trustIn(chain, range.own),
  })
  if (told.decoded && (!told.own || !before.record))
    return {
      ...told,
      record: before.record ? foldRecord(before.record, told.decoded.record) : told.own,
      trust: trustIn(chain, null),
    }
  if (told.decoded && makesRecord(before, told)) return provedBy(told)
  const words: ChainRecord[] = []
  const ranges = await chain.rpc.onEveryNode(async (call) => {
    const range = await readRange(call, chain, told.from, told.to)
    if (before.lastHash && !range.parentHash.equals(before.lastHash))
      throw new LackingError(`a node is on another fork before block ${told.from}`)
    if (range.own) words.push(range.own)
    if (!range.own || !before.record || makesRecord(before, range)) return range
    const text = `the logs of blocks ${told.from}-${told.to} do not make the contracts' record`
    throw before.trust === 'proved' ? new RefutedError(text) : transient(text)
  })
  const range = { ...ranges[0]!, own: words[0] ?? null }
  const isAgreed =
    ranges.every((one) => isSame(one, range)) &&
    words.every((one) => isDeepStrictEqual(one, range.own))
  if (isAgreed && makesRecord(before, range)) return provedBy(range)
  throw new DisagreementError(`chain "${chain.config.label}": its nodes contradict each other`)
}
