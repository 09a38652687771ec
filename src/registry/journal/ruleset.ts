/** Rules of the fold. Rules that the contracts share (who wins a bid) don't belong here. */
export interface Ruleset {
  /** Maximum of wallets per cluster. */
  maxClusterWallets: number
  /** Maximum of names that one entry moves; the rest follow in entries of their own (fold/moves.ts). */
  namesPerEntry: number
}

export const RULES: Ruleset = { maxClusterWallets: 1_000, namesPerEntry: 1_000 }

/**
 * Version of the rules, stored with each entry (`journal.ruleset`); nothing reads it yet. The first rule that changes
 * raises it, and is looked up by an entry's version from then on, so that a replay gives old entries the same effects.
 */
export const RULESET_VERSION = 3
