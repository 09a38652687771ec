/** Prices of ETH and SOL, and the conversion of a bid from wei to lamports. */

/** A price of an aggregator (AggregatorV3: `latestRoundData`, `decimals`). */
export interface Price {
  /** US dollars times 10^decimals. */
  answer: bigint
  decimals: number
  /** Seconds since the epoch. */
  updatedAtS: number
}

export interface PriceBounds {
  /** Oldest price accepted. */
  maxAgeSeconds: number
  /** Largest move since an earlier price accepted. */
  maxMovePercent: number
}

/**
 * Reason to refuse a price, null for a good one.
 * @param earlier price of the last quotes, null when there were none recently
 */
export function priceProblem(price: Price, earlier: Price | null, bounds: PriceBounds, nowS: number): string | null {
  const { answer, updatedAtS } = price
  if (answer <= 0n) return 'it is not above zero'
  const ageS = nowS - updatedAtS
  if (ageS > bounds.maxAgeSeconds) return `it is ${ageS} s old`
  if (!earlier) return null
  // on one scale, since a feed may be replaced by one with other decimals
  const now = answer * 10n ** BigInt(earlier.decimals)
  const then = earlier.answer * 10n ** BigInt(price.decimals)
  const moved = now > then ? now - then : then - now
  if (moved * 100n > then * BigInt(bounds.maxMovePercent))
    return `it moved by more than ${bounds.maxMovePercent} % since the last quotes`
  return null
}

export interface Rates {
  ethUsd: Price
  solUsd: Price
}

/** An ETH is 10^18 wei, a SOL 10^9 lamports. */
const WEI_PER_LAMPORT_AT_PAR = 10n ** 9n

/** Converts wei to lamports, rounded up. */
export function weiToLamports(wei: bigint, { ethUsd, solUsd }: Rates): bigint {
  const value = wei * ethUsd.answer * 10n ** BigInt(solUsd.decimals)
  const unit = solUsd.answer * 10n ** BigInt(ethUsd.decimals) * WEI_PER_LAMPORT_AT_PAR
  return (value + unit - 1n) / unit
}
