import { type DecodedEntry, decodeEntry } from '../../registry/journal/decode.js'
import { bigIntToWord } from '../../registry/primitives/bytes.js'
import type { EvmChain } from './chain.js'

/**
 * Minimum bids of a watch-only hub, by the block from which each holds. Hub contracts of other deployers do not log
 * their minimum.
 */
export type ConfiguredMinimumBids = ReadonlyMap<number, bigint>

/** Log index of the entry of a configured minimum bid: before every log of its block. */
export const LOG_INDEX_OF_CONFIGURED_MINIMUM_BID = -1

/**
 * The configured minimum bids, ordered by block. A minimum from before the chain's `startBlock` holds from
 * `startBlock`.
 */
export function configuredMinimumBids({
  role,
  watchOnly,
  startBlock,
}: EvmChain['config']): ConfiguredMinimumBids {
  const minima = role === 'hub' ? (watchOnly?.minimum ?? []) : []
  return new Map(
    minima
      .toSorted((a, b) => a.fromBlock - b.fromBlock)
      .map(({ fromBlock, wei }) => [Math.max(fromBlock, startBlock), BigInt(wei)]),
  )
}

/** Journal entries of the minimum bids that hold from a block on. @param timestampMs the block's time */
export function minimumBidEntries(
  { config, chain }: EvmChain,
  { number: block, timestampMs }: { number: number; timestampMs: number },
): DecodedEntry[] {
  const wei = configuredMinimumBids(config).get(block)
  if (wei === undefined) return []
  const position = { chain, block, logIndex: LOG_INDEX_OF_CONFIGURED_MINIMUM_BID }
  return [
    decodeEntry({
      kind: 'minimum',
      position,
      txKey: null,
      causeMs: timestampMs,
      body: bigIntToWord(wei),
    }),
  ]
}
