/** The rule for names, also used by the pages. The contracts have the same rule (Names.sol, community.rs). */

/** Maximum length of a name: on chain it is left-aligned ASCII in a zero-filled bytes32. */
export const NAME_MAX_BYTES = 32
const LETTERS = 'a-z0-9_\\-'
/** A canonical name. */
export const CANONICAL_NAME = new RegExp(`^[${LETTERS}]{1,${NAME_MAX_BYTES}}$`)
/**
 * A name in either case, as people type it. Only ASCII, so that no similar-looking Unicode character is folded into a
 * name.
 */
export const NAME_PATTERN = `[A-Z${LETTERS}]{1,${NAME_MAX_BYTES}}`
/** The rule in words, for texts of at least so many characters. */
export const nameRuleFrom = (least: number): string =>
  `${least} to ${NAME_MAX_BYTES} characters of a-z, 0-9, _ and -`
/** The rule in words. */
export const NAME_RULE = nameRuleFrom(1)
