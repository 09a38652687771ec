/** Rules of the fold. Rules that the contracts apply too, such as which bid wins, are not part of a ruleset. */
export interface Ruleset {
  /** Maximum number of wallets per cluster. */
  maxClusterWallets: number
  /** Maximum number of names that one entry moves. Later entries move the remaining names (fold/moves.ts). */
  namesPerEntry: number
}

const FIRST_RULESET: Ruleset = { maxClusterWallets: 1_000, namesPerEntry: 1_000 }

/**
 * Rulesets by version, from 1. Each entry stores its version (`journal.ruleset`), so that a replay gives the same
 * effects. To change a rule, append a ruleset and do not edit the earlier ones. Versions 1 to 3 have equal rules.
 */
const RULESETS: readonly Ruleset[] = [FIRST_RULESET, FIRST_RULESET, FIRST_RULESET]

/** Largest maximum of wallets per cluster in any ruleset. */
export const MAX_CLUSTER_WALLETS_OF_ANY_RULESET = Math.max(
  ...RULESETS.map((rules) => rules.maxClusterWallets),
)

/** Newest version of the rulesets, which new entries get, and its rules. */
export const RULESET_VERSION = RULESETS.length
export const NEWEST_RULESET = rulesetOfVersion(RULESET_VERSION)

/** Ruleset of a version. @throws RangeError for an unknown version */
export function rulesetOfVersion(version: number): Ruleset {
  const rules = RULESETS[version - 1]
  if (rules) return rules
  throw new RangeError(
    `this version of clusterd does not know ruleset ${version} of a journal entry`,
  )
}
