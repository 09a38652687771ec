import names from '../vectors/names.json' with { type: 'json' }

/**
 * The rules for names, implemented a second time for the tests (test/vectors/names.json). Each rule has `others`: texts
 * that break only this rule. `capitals` are valid input, but contracts refuse them. `earlier` are names that only an
 * earlier rule accepted. When a new rule refuses a name of `names`, move the name to `earlier`: it stays readable.
 */
export const { rules, alphabet, longest, capitals } = names
export const wellFormed = [...names.names, 'x'.repeat(longest)]
export const everAccepted: readonly string[] = [...wellFormed, ...(names.earlier as string[])]
export const malformed = [...rules.flatMap(({ others }) => others), ...(names.earlier as string[])]

const PATTERNS = rules.map(({ pattern }) => RegExp(pattern))
/** True for a canonical name that keeps all rules. */
export const isName = (text: string): boolean => PATTERNS.every((pattern) => pattern.test(text))
/** True if a bytes32 holds a canonical name that keeps all rules. */
export const isNameWord = (word: Buffer): boolean =>
  isName(word.toString('latin1').replace(/\0+$/, ''))
