import { parseAbi } from 'viem'
import type { SolanaConfig } from '../../config/index.js'
import { ChainUnavailableError, type Hex, rethrowAsUnavailable } from '../chain.js'
import { createContractReader } from '../evm/contracts/read.js'
import type { RpcCall, RpcNodes } from '../rpc/nodes.js'
import { cacheAnswerForDuration } from '../rpc/served.js'

/** Functions of a Chainlink price feed (AggregatorV3Interface). */
const AGGREGATOR_ABI = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
])

const FEED_NAMES = ['ethUsd', 'solUsd'] as const
/** Lifetime of cached rates, ms. */
const RATES_CACHE_MS = 2_000
/** How long a price limits the next one (`maxMovePercent`), ms. A change over a longer time is accepted. */
const COMPARISON_PERIOD_MS = 10 * 60_000

interface HubPrices {
  ethUsd: PriceFeedAnswer
  solUsd: PriceFeedAnswer
  /** Gas price on the hub, wei. */
  gasPriceWei: bigint
}

/**
 * Creates a reader of the hub's gas price and of two price feeds there. A feed's price is refused when it is not above
 * zero, when it is stale, or when it differs by more than `maxMovePercent` between two nodes or from the last read.
 * @returns a function that throws ChainUnavailableError when the hub is unavailable or a price is refused
 */
export function createHubPriceReader(
  hub: RpcNodes,
  feeds: SolanaConfig['feeds'],
  nowMs: () => number = Date.now,
): () => Promise<HubPrices> {
  const { maxMovePercent } = feeds
  let last: { rates: HubPrices; atMs: number } | null = null

  const isNear = (a: HubPrices, b: HubPrices): boolean =>
    FEED_NAMES.every(
      (feed) =>
        !priceFeedProblem(
          b[feed],
          a[feed],
          { maxMovePercent, maxAgeSeconds: Number.POSITIVE_INFINITY },
          0,
        ),
    )

  const read = async (): Promise<HubPrices> => {
    // nodes need not agree about the gas price, so the lowest of their answers is used: one node can't raise it
    const gasPrices: bigint[] = []
    const ask = async (call: RpcCall): Promise<HubPrices> => {
      const ratesOfNode = await readHubPrices(call, feeds)
      gasPrices.push(ratesOfNode.gasPriceWei)
      return ratesOfNode
    }
    const agreed = await rethrowAsUnavailable('getting the prices of ETH and SOL', () =>
      hub.quorum(ask, isNear),
    )
    const rates = {
      ...agreed,
      gasPriceWei: gasPrices.reduce((least, wei) => (wei < least ? wei : least)),
    }
    const atMs = nowMs()
    // after the clock was set back, a price of an earlier day must not count as recent
    const earlier = last && Math.abs(atMs - last.atMs) < COMPARISON_PERIOD_MS ? last.rates : null
    for (const feed of FEED_NAMES) {
      const bounds = { maxMovePercent, maxAgeSeconds: feeds.maxAgeSeconds[feed] }
      const problem = priceFeedProblem(
        rates[feed],
        earlier?.[feed] ?? null,
        bounds,
        Math.floor(atMs / 1_000),
      )
      if (problem)
        throw new ChainUnavailableError(
          `the price feed ${feed} (${feeds[feed]}) is refused: ${problem}`,
        )
    }
    last = { rates, atMs }
    return rates
  }

  return cacheAnswerForDuration(RATES_CACHE_MS, read)
}

async function readHubPrices(call: RpcCall, feeds: SolanaConfig['feeds']): Promise<HubPrices> {
  const [ethUsd, solUsd, gasPrice] = await Promise.all([
    readFeedPrice(call, feeds.ethUsd),
    readFeedPrice(call, feeds.solUsd),
    call<Hex>('eth_gasPrice', []),
  ])
  return { ethUsd, solUsd, gasPriceWei: BigInt(gasPrice) }
}

async function readFeedPrice(call: RpcCall, feed: Hex): Promise<PriceFeedAnswer> {
  const read = createContractReader(call, feed, AGGREGATOR_ABI)
  const [decimals, [, answer, , updatedAt]] = await Promise.all([
    read('decimals'),
    read('latestRoundData'),
  ])
  return { answer, decimals, updatedAtS: Number(updatedAt) }
}

/** A price of a Chainlink feed (AggregatorV3: `latestRoundData`, `decimals`). */
export interface PriceFeedAnswer {
  /** US dollars times 10^decimals. */
  answer: bigint
  decimals: number
  /** Unix seconds. */
  updatedAtS: number
}

interface PriceBounds {
  /** Greatest accepted age of a price, seconds. */
  maxAgeSeconds: number
  /** Largest accepted difference from the price to compare with, percent. */
  maxMovePercent: number
}

/**
 * Reason to refuse a price. Null where the price is accepted.
 * @param earlier price to compare with: of the last read, or of another node. Null where there is none
 * @param nowS current Unix time, seconds
 */
export function priceFeedProblem(
  price: PriceFeedAnswer,
  earlier: PriceFeedAnswer | null,
  bounds: PriceBounds,
  nowS: number,
): string | null {
  const { answer, updatedAtS } = price
  if (answer <= 0n) return 'it is not above zero'
  const ageS = nowS - updatedAtS
  if (ageS > bounds.maxAgeSeconds) return `it is ${ageS} s old`
  if (!earlier) return null
  // both prices are scaled to the same decimals, since a feed may be replaced by a feed with other decimals
  const now = answer * 10n ** BigInt(earlier.decimals)
  const then = earlier.answer * 10n ** BigInt(price.decimals)
  const moved = now > then ? now - then : then - now
  if (moved * 100n > then * BigInt(bounds.maxMovePercent))
    return `it moved by more than ${bounds.maxMovePercent} % since the last quotes`
  return null
}

/** Wei per lamport if an ETH cost as much as a SOL: an ETH is 10^18 wei, a SOL is 10^9 lamports. */
const WEI_PER_LAMPORT_AT_PAR = 10n ** 9n

/** Converts wei to lamports, rounded up. */
export function weiToLamports(
  wei: bigint,
  { ethUsd, solUsd }: Pick<HubPrices, 'ethUsd' | 'solUsd'>,
): bigint {
  const value = wei * ethUsd.answer * 10n ** BigInt(solUsd.decimals)
  const unit = solUsd.answer * 10n ** BigInt(ethUsd.decimals) * WEI_PER_LAMPORT_AT_PAR
  return (value + unit - 1n) / unit
}
