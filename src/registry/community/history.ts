import type { CommunityPrice, CommunityRules } from './rules.js'

/**
 * The rules of a community from some time on, until the next ones. A history is a list of them in the journal's order.
 */
export interface RulesVersion {
  /** The time of the journal's entry, ms. */
  atMs: number
  rules: CommunityRules
}

/** A price that was in force this long before the block counts: a quote was given then, and signing takes time. */
export const PRICE_GRACE_MS = 30 * 60_000
/** Blocks tell their time in whole seconds, cut off. */
const BLOCK_TIME_PRECISION_MS = 1_000

/** The rules in force at a time; null before there were any. */
export function rulesAt(history: readonly RulesVersion[], ms: number): CommunityRules | null {
  return history.findLast(({ atMs }) => atMs <= ms)?.rules ?? null
}

/** The rules in force at the time of a block, which is cut to the second: those set within that second count. */
export const rulesAtBlock = (history: readonly RulesVersion[], blockMs: number): CommunityRules | null =>
  rulesAt(history, blockMs + BLOCK_TIME_PRECISION_MS - 1)

/** All rules that were in force at any moment from 30 min before a block until the block. */
export function rulesWithinGrace(history: readonly RulesVersion[], blockMs: number): CommunityRules[] {
  const until = blockMs + BLOCK_TIME_PRECISION_MS - 1
  const since = blockMs - PRICE_GRACE_MS
  return history
    .filter(({ atMs }, i) => {
      // rules that others followed at the same moment were never in force
      const endMs = history[i + 1]?.atMs ?? Number.POSITIVE_INFINITY
      return atMs <= until && endMs > Math.max(atMs, since)
    })
    .map(({ rules }) => rules)
}

/**
 * The least that a payment in a block has to be: the lowest price in force from 30 min before the block on, in that
 * token of that network and for that recipient.
 * @param blockMs the block's time, ms
 * @returns base units, null when no such price was asked
 */
export function lowestPrice(
  history: readonly RulesVersion[],
  asked: Pick<CommunityPrice, 'network' | 'token' | 'recipient'>,
  blockMs: number,
): bigint | null {
  const amounts = rulesWithinGrace(history, blockMs)
    .flatMap(({ prices }) => prices)
    .filter(({ network, token, recipient }) => {
      return network === asked.network && token === asked.token && recipient === asked.recipient
    })
    .map(({ amount }) => amount)
  return amounts.reduce<bigint | null>((least, amount) => (least === null || amount < least ? amount : least), null)
}
