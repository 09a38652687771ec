import type { TextFile } from '../source/tree.js'

/**
 * Retired words and phrases, each with what to write instead. Everyday words with other meanings are not on the list:
 * an EVM word, ORDER BY and a look-up stay.
 */
const RETIRED: Readonly<Record<string, string>> = {
  told: 'reported, returned or notified',
  tells: 'reports or shows',
  'said to be': 'reported as',
  'own word': 'own value, hash or answer',
  lacks: 'does not have, or is missing',
  'laid aside': 'skipped',
  believes: 'accepts or trusts',
  believed: 'accepted or trusted',
  vain: 'failed, or without effect',
  deed: 'action',
  deeds: 'actions',
  alike: 'equal, or in the same way',
  'goes with': 'is batched with, or belongs to',
  'whose it is': 'the owner',
  'by itself': 'automatically, on its own or separately',
  'stands elsewhere': 'is a duplicate',
  wish: 'desired setting',
  wishes: 'desired settings',
  'carry out': 'execute',
  'carries out': 'executes',
  'carried out': 'executed',
  'look at': 'read or check',
  'looks at': 'reads or checks',
  'looked at': 'read or checked',
  'hold up': 'delay',
  'holds up': 'delays',
  'held up': 'delayed',
  'is none': 'is not a …, or does not have',
  'are none': 'are not, or do not have',
}

/** By phrase, the word before it with which it is allowed, as in "there are none". */
const ALLOWED_AFTER: Readonly<Record<string, string>> = { 'is none': 'there', 'are none': 'there' }

/** Space between the words of a phrase. A comment may break the line there. */
const GAP = String.raw`(?:[ \t]+|\s*\n[ \t]*(?:\*|\/\/[\/!]?|#|>)?[ \t]*)`

const PHRASES = Object.entries(RETIRED).map(([phrase, instead]) => ({
  phrase,
  instead,
  pattern: patternOf(phrase),
}))

/** Files with prose: sources, contracts, schemas, settings and documents. */
const CHECKED = /\.(?:[cm]?[jt]sx?|sol|rs|md|prisma|ya?ml)$/

/** Files that may have retired phrases: migrations never change, and the others quote the list or foreign texts. */
const LEFT_OUT = [
  'prisma/migrations/',
  'scripts/lint/phrases.ts',
  'test/lint.test.ts',
  'src/chains/rpc/providers.test.ts',
]

/**
 * Retired phrases in a file's comments, texts and identifiers (`isTold`, `TOLD_MS`), as `path:line: what to write
 * instead`.
 */
export function retiredPhrases({ path, text }: TextFile): string[] {
  if (!CHECKED.test(path) || LEFT_OUT.some((start) => path.startsWith(start))) return []
  return PHRASES.flatMap(({ phrase, instead, pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => {
      const line = text.slice(0, index).split('\n').length
      return `${path}:${line}: "${phrase}" is not the field's word: write "${instead}"`
    }),
  )
}

/** Matches a phrase in prose, at the beginning of a sentence, and as a part of a name in camelCase or in capitals. */
function patternOf(phrase: string): RegExp {
  const words = phrase.split(' ')
  const capital = phrase[0]!.toUpperCase() + phrase.slice(1)
  const allowed = ALLOWED_AFTER[phrase]
  const before = allowed === undefined ? '' : `(?<!\\b${allowed} )`
  const prose = `(?<![A-Za-z])${before}[${phrase[0]}${capital[0]}]${words.join(GAP).slice(1)}(?![a-z])`

  const camel = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  const inName = `(?<=[a-z0-9])${camel}(?![a-z])|\\b${camel[0]!.toLowerCase()}${camel.slice(1)}(?![a-z])`
  const inCapitals = `(?<![A-Z])${phrase.toUpperCase().replaceAll(' ', '_')}(?![A-Z])`
  return new RegExp([prose, inName, inCapitals].join('|'), 'g')
}
