/** The rules for names, also used by the pages. The contracts have the same rules (Names.sol, community.rs). */

/** Maximum length of a name: on chain it is left-aligned ASCII in a zero-filled bytes32. */
export const NAME_MAX_BYTES = 32

/** A rule about a whole name. */
interface NameRule {
  /**
   * Matches texts that keep the rule, in upper or lower case. All rules together allow only ASCII, so that no
   * similar-looking Unicode character is converted to a letter of a name.
   */
  readonly pattern: string
  /** The rule in words. The texts of all rules, in order, form one phrase. */
  readonly text: string
  /**
   * True if every name that was ever accepted keeps the rule. Only these rules decide what stored entries, look-ups and
   * paths accept as a name. New names keep all rules.
   */
  readonly isOfAllNames: boolean
}

/** test/vectors/names.json has cases for each rule. The tests of the contracts use the same cases. */
export const NAME_RULES: readonly NameRule[] = [
  {
    pattern: `[\\s\\S]{1,${NAME_MAX_BYTES}}`,
    text: `1 to ${NAME_MAX_BYTES} characters`,
    isOfAllNames: true,
  },
  { pattern: '[A-Za-z0-9_\\-]*', text: 'of a-z, 0-9, _ and -', isOfAllNames: true },
]
/** All rules in words, as one phrase. */
export const NAME_RULES_TEXT = NAME_RULES.map(({ text }) => text).join(' ')

const RULES_OF_ALL_NAMES = NAME_RULES.filter((rule) => rule.isOfAllNames)

/** Pattern of a whole text that keeps all the given rules. @param end pattern of the text after the name */
const patternOf = (rules: readonly NameRule[], end = '') =>
  `${rules.map(({ pattern }) => `(?=${pattern}${end}$)`).join('')}[^\\/]+${end}`

const NAME_REGEXP = new RegExp(`^${patternOf(RULES_OF_ALL_NAMES)}$`)
const NEW_NAME_REGEXP = new RegExp(`^${patternOf(NAME_RULES)}$`)

/** Patterns of HTML inputs: for a new name, and for a name that may end with a slash. */
export const NEW_NAME_PATTERN = patternOf(NAME_RULES)
export const NAME_PATTERN = patternOf(RULES_OF_ALL_NAMES, '/?')

/** Canonical form of a name in upper or lower case; null for any other text. */
export const parseName = (input: string): string | null =>
  NAME_REGEXP.test(input) ? input.toLowerCase() : null

/** Canonical form of a name to be registered or assigned, which keeps all rules; null for any other text. */
export const parseNewName = (input: string): string | null =>
  NEW_NAME_REGEXP.test(input) ? input.toLowerCase() : null

export const isCanonicalName = (text: string): boolean => parseName(text) === text
