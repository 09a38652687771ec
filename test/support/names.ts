import names from '../vectors/names.json' with { type: 'json' }

/**
 * The rules for names, implemented again for the tests. Each rule has texts that break only this rule. Among those of
 * the alphabet are look-alikes that Unicode folds into letters (KELVIN SIGN, a dotted I, a long s) and others of `a`.
 * Chains refuse `capitals`, which people may type. `earlier`: names that an earlier rule accepted. Move a name of
 * `names` there when a new rule refuses it: it stays readable.
 */
export const { rules, alphabet, longest, capitals } = names
export const wellFormed = [...names.names, 'x'.repeat(longest)]
export const everAccepted: readonly string[] = [...wellFormed, ...(names.earlier as string[])]
export const malformed = [...rules.flatMap(({ others }) => others), ...(names.earlier as string[])]

const PATTERNS = rules.map(({ pattern }) => RegExp(pattern))
/** True for a canonical name that keeps all rules. */
export const isName = (text: string): boolean => PATTERNS.every((pattern) => pattern.test(text))
/** True if the 32 bytes of a word are such a name. */
export const isNameWord = (word: Buffer): boolean =>
  isName(word.toString('latin1').replace(/\0+$/, ''))
