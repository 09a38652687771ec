/**
 * Rules by journal position: each entry is stored with its ruleset version (`journal.ruleset`), which replays and
 * rewinds use again. Rule changes thus leave effects and state hash of old entries unchanged.
 *
 * Changing a rule:
 * 1. Make the rule a field of `Ruleset`, with today's behaviour in every version.
 * 2. Add the next version to `RULESETS`. Never edit or remove a deployed version.
 * 3. Raise `CURRENT_RULESET` for new entries.
 *
 * Rules that the contracts share (who wins a bid) don't belong here: a reindexed chain's logs get the current version.
 * Such a rule changes by block, in the contract's state, as the minimum does.
 */
export interface Ruleset {
  /** Maximum of wallets per cluster. */
  maxClusterWallets: number
  /** Maximum of names that one entry moves; the rest follow in entries of their own (fold/moves.ts). */
  namesPerEntry: number
}

const RULESETS: Readonly<Record<number, Ruleset>> = {
  1: { maxClusterWallets: 1_000, namesPerEntry: Number.POSITIVE_INFINITY },
  2: { maxClusterWallets: 1_000, namesPerEntry: 1_000 },
  // whose claim a name was assigned for is state: the entry's `met` says it, and programs of version 2 would forget it
  3: { maxClusterWallets: 1_000, namesPerEntry: 1_000 },
}

/** Version of new entries. */
export const CURRENT_RULESET = 3

/** Rules of a version. @throws RangeError for an unknown one */
export function rulesetOf(version: number): Ruleset {
  const ruleset = RULESETS[version]
  if (!ruleset) throw new RangeError(`ruleset ${version} is unknown: was the journal written by a newer version?`)
  return ruleset
}
