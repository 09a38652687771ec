/**
 * The rule for names, for pages too. The contracts have the same (Names.sol, community.rs).
 */

/** Maximum length of a name: on chain it is left-aligned ASCII in a zero-filled bytes32. */
export const NAME_MAX_BYTES = 32
const LETTERS = 'a-z0-9_\\-'
/** A canonical name. */
export const NAME = new RegExp(`^[${LETTERS}]{1,${NAME_MAX_BYTES}}$`)
/** The same in either case, as people type it: by ASCII alone, so that no look-alike of Unicode folds into a name. */
export const NAME_PATTERN = `[A-Z${LETTERS}]{1,${NAME_MAX_BYTES}}`
/** The rule as people read it, for texts of at least so many characters. */
export const nameRuleFrom = (least: number): string =>
  `${least} to ${NAME_MAX_BYTES} characters of a-z, 0-9, _ and -`
export const NAME_RULE = nameRuleFrom(1)
