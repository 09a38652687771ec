/** Rules of the fold. Rules that the contracts share (who wins a bid) don't belong here. */
export interface Ruleset {
  /** Maximum of wallets per cluster. */
  maxClusterWallets: number
  /** Maximum of names that one entry moves; the rest follow in entries of their own (fold/moves.ts). */
  namesPerEntry: number
}

const FIRST: Ruleset = { maxClusterWallets: 1_000, namesPerEntry: 1_000 }

/**
 * Rulesets by version, from 1. Each entry has its version (`journal.ruleset`), so that a replay gives it the same
 * effects: a changed rule is one more at the end, and none before it is edited.
 */
const RULESETS: readonly Ruleset[] = [FIRST, FIRST, FIRST]

/** Wallets of a cluster at most, by any version. */
export const MOST_WALLETS = Math.max(...RULESETS.map((rules) => rules.maxClusterWallets))

/** Version of new entries, with its rules. */
export const RULESET_VERSION = RULESETS.length
export const RULES = rulesetOf(RULESET_VERSION)

/** @throws RangeError for a version that is none of ours */
export function rulesetOf(version: number): Ruleset {
  const rules = RULESETS[version - 1]
  if (rules) return rules
  throw new RangeError(
    `this version of clusterd does not know ruleset ${version} of a journal entry`,
  )
}
