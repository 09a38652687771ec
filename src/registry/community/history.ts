import type { CommunityPrice, CommunityRules } from './rules.js'

/** A version of a community's rules, in force until the next version. A history lists versions in journal order. */
export interface RulesVersion {
  /** Time of the journal entry, ms. */
  atMs: number
  rules: CommunityRules
}

/** A price stays valid this long after it was replaced, because a payer signs some time after the quote. */
export const PRICE_GRACE_MS = 30 * 60_000
/** Block timestamps are truncated to seconds. */
const BLOCK_TIMESTAMP_PRECISION_MS = 1_000

/** Rules in force at a time; null before the first version. */
export function rulesAtTime(history: readonly RulesVersion[], ms: number): CommunityRules | null {
  return history.findLast(({ atMs }) => atMs <= ms)?.rules ?? null
}

/** Rules in force at the end of the second to which a block's timestamp is truncated. */
export const rulesAtBlock = (
  history: readonly RulesVersion[],
  blockMs: number,
): CommunityRules | null => rulesAtTime(history, blockMs + BLOCK_TIMESTAMP_PRECISION_MS - 1)

/** Rules in force at any moment from 30 min before a block until the block. */
export function rulesWithinPriceGrace(
  history: readonly RulesVersion[],
  blockMs: number,
): CommunityRules[] {
  const until = blockMs + BLOCK_TIMESTAMP_PRECISION_MS - 1
  const since = blockMs - PRICE_GRACE_MS
  return history
    .filter(({ atMs }, i) => {
      // a version that was replaced at the same moment was never in force
      const endMs = history[i + 1]?.atMs ?? Number.POSITIVE_INFINITY
      return atMs <= until && endMs > Math.max(atMs, since)
    })
    .map(({ rules }) => rules)
}

/**
 * Minimum payment in a block: the lowest price for a token, network and recipient that was in force at any moment
 * from 30 min before the block.
 * @param blockMs time of the block, ms
 * @returns base units, null without such a price
 */
export function lowestPriceWithinGrace(
  history: readonly RulesVersion[],
  price: Pick<CommunityPrice, 'network' | 'token' | 'recipient'>,
  blockMs: number,
): bigint | null {
  const amounts = rulesWithinPriceGrace(history, blockMs)
    .flatMap(({ prices }) => prices)
    .filter(({ network, token, recipient }) => {
      return network === price.network && token === price.token && recipient === price.recipient
    })
    .map(({ amount }) => amount)
  return amounts.reduce<bigint | null>(
    (least, amount) => (least === null || amount < least ? amount : least),
    null,
  )
}
