/**
 * Rules carry a version by journal position: each entry is stored with the version of the ruleset that it was folded
 * under (`journal.ruleset`), and every later fold of it, by a replay or a rewind, asks for that version again. So a
 * rule may change for new entries without touching what old ones did, and the state hash of old entries stays.
 *
 * How to change a rule:
 * 1. Make the rule a field of `Ruleset`, if it is none yet, with today's behaviour in every version there is.
 * 2. Add the next version with the new behaviour to `RULESETS`. Never edit or remove a version that has been deployed.
 * 3. Raise `CURRENT_RULESET`: entries that are appended from then on carry it.
 *
 * No place for what the contracts decide too (who wins a bid): a chain may be indexed anew, and its logs then get the
 * current version. Such a rule changes by block, in the contract's own state, as the minimum does.
 */
export interface Ruleset {
  /** Entries that a cluster may have. */
  maxClusterWallets: number
}

const RULESETS: Readonly<Record<number, Ruleset>> = {
  1: { maxClusterWallets: 1_000 },
}

/** Version that new entries are folded under. */
export const CURRENT_RULESET = 1

/** The rules of a version. Throws RangeError for one that this program does not know. */
export function rulesetOf(version: number): Ruleset {
  const ruleset = RULESETS[version]
  if (!ruleset) throw new RangeError(`ruleset ${version} is unknown: was the journal written by a newer version?`)
  return ruleset
}
