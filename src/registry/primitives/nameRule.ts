/** The rule for names, without an import, so that the pages have the same one (the contracts': Names.sol). */

/** Maximum length of a name: on chain it is left-aligned ASCII in a zero-filled bytes32. */
export const NAME_MAX_BYTES = 32
/** A canonical name. */
export const NAME = new RegExp(`^[a-z0-9_-]{1,${NAME_MAX_BYTES}}$`)
/** The rule as people read it. */
export const NAME_RULE = `1 to ${NAME_MAX_BYTES} characters of a-z, 0-9, _ and -`
