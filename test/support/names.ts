import names from '../vectors/names.json' with { type: 'json' }

/**
 * The rule for names, implemented again for the tests. Chains refuse `capitals`, which people may type, and `others`: among
 * these are look-alikes that Unicode folds into letters (KELVIN SIGN, a dotted I, a long s) and others of `a`.
 */
export const { rule, alphabet, longest, capitals } = names
export const wellFormed = [...names.names, 'x'.repeat(longest)]
export const malformed = [...names.others, 'x'.repeat(longest + 1)]

/** Pattern of a name, for a longer one. */
export const NAME = `[${alphabet.replace(/[\]\\^-]/g, '\\$&')}]{1,${longest}}`
const WORD = RegExp(`^${NAME}\\0*$`)
/** True if the 32 bytes of a word are a valid name. */
export const isNameWord = (word: Buffer): boolean => WORD.test(word.toString('latin1'))
