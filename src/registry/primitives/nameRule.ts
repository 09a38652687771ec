/** The rules for names, also used by the pages. The contracts have the same rules (Names.sol, community.rs). */

/** Maximum length of a name: on chain it is left-aligned ASCII in a zero-filled bytes32. */
export const NAME_MAX_BYTES = 32

/** A rule about a whole name. */
interface NameRule {
  /**
   * Matches what keeps the rule, in either case as people type it. Only ASCII, so that no similar-looking Unicode
   * character is folded into a name.
   */
  readonly pattern: string
  /** The rule in words. In order, the texts are one sentence. */
  readonly text: string
  /**
   * True if every name that was ever accepted keeps the rule. Only these rules decide what stored entries, look-ups and
   * paths accept as a name. New names keep all rules.
   */
  readonly isOfAllNames: boolean
}

/** test/vectors/names.json has cases for each rule, which the contracts are tested by too. */
export const NAME_RULES: readonly NameRule[] = [
  {
    pattern: `[\\s\\S]{1,${NAME_MAX_BYTES}}`,
    text: `1 to ${NAME_MAX_BYTES} characters`,
    isOfAllNames: true,
  },
  { pattern: '[A-Za-z0-9_\\-]*', text: 'of a-z, 0-9, _ and -', isOfAllNames: true },
]
/** The rules in words. */
export const NAME_RULE = NAME_RULES.map(({ text }) => text).join(' ')

const OF_ALL_NAMES = NAME_RULES.filter((rule) => rule.isOfAllNames)

/** Pattern of texts that keep rules, for a whole text. @param end pattern of what may follow the name */
const patternOf = (rules: readonly NameRule[], end = '') =>
  `${rules.map(({ pattern }) => `(?=${pattern}${end}$)`).join('')}[^\\/]+${end}`

const NAME = new RegExp(`^${patternOf(OF_ALL_NAMES)}$`)
const NEW_NAME = new RegExp(`^${patternOf(NAME_RULES)}$`)

/** Patterns of inputs: a new name, and a name that may end with a slash. */
export const NEW_NAME_PATTERN = patternOf(NAME_RULES)
export const NAME_PATTERN = patternOf(OF_ALL_NAMES, '/?')

/** Canonical form of a name in either case, null for any other text. */
export const parseName = (input: string): string | null =>
  NAME.test(input) ? input.toLowerCase() : null

/** The same for a name that is to be registered or given. */
export const parseNewName = (input: string): string | null =>
  NEW_NAME.test(input) ? input.toLowerCase() : null

export const isCanonicalName = (text: string): boolean => parseName(text) === text
