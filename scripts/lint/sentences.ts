import ts from 'typescript'
import type { Source } from '../source/tree.js'
import { sentencesOf, wordsOf } from './documents.js'

/** Words that blur a fact. The project's retired words are in phrases.ts. */
const BANNED = [
  'is to be',
  'are to be',
  'would',
  'whatever',
  'thereof',
  'in order to',
  'utilize',
  'leverage',
  'simply',
  'just',
  'very',
  'basically',
  'obviously',
  'of course',
]
const BANNED_WORDS = new RegExp(`\\b(?:${BANNED.join('|')})\\b`, 'i')

/** Maximum number of words in a sentence for users of the API and the pages. */
const USERS_WORDS = 32
/** Maximum number of words in a sentence for operators and contributors. */
const OPERATORS_WORDS = 40

/** Documents that are generated from the texts of events, metrics and alerts. */
const GENERATED = ['docs/run/alarms.md', 'docs/run/metrics.md', 'docs/use/events.md']

/**
 * Problems of a document: sentences that are too long or blur a fact, and a page without the required first sentence.
 */
export function documentProblems(path: string, text: string): string[] {
  const isForUsers = path === 'README.md' || path.startsWith('docs/use/')
  const sentences = sentencesOf(text)
  const problems = sentenceProblems(path, sentences, isForUsers ? USERS_WORDS : OPERATORS_WORDS)

  const isPage = path.startsWith('docs/') && !GENERATED.includes(path)
  if (isPage && !sentences[0]?.startsWith('After this page you '))
    problems.push(`${path}: its first sentence has to begin with "After this page you "`)
  return problems
}

/** Folders whose string literals are texts for users: messages, labels, descriptions. */
const USERS_TEXTS = /^src\/(api|cli|config|web\/page)\//

/** Problems in the literals of the API, the command line and the pages: sentences that are too long or blur a fact. */
export function textProblems(source: Source): string[] {
  if (!USERS_TEXTS.test(source.path)) return []
  return sentenceProblems(source.path, textsOf(source).flatMap(sentencesOf), USERS_WORDS)
}

function sentenceProblems(path: string, sentences: readonly string[], longest: number): string[] {
  const problems: string[] = []
  for (const sentence of sentences) {
    const words = wordsOf(sentence)
    const banned = BANNED_WORDS.exec(sentence)?.[0]
    if (words > longest) problems.push(`${path}: ${words} words, at most ${longest}: ${sentence}`)
    if (banned)
      problems.push(`${path}: "${banned}" says nothing or is not the field's word: ${sentence}`)
  }
  return problems
}

/** Texts of a source with more than three words, except SQL. */
function textsOf({ tree }: Source): string[] {
  const texts: string[] = []

  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) texts.push(node.text)
    if (ts.isTemplateExpression(node)) {
      const literals = [node.head, ...node.templateSpans.map(({ literal }) => literal)]
      texts.push(literals.map(({ text }) => text).join('…'))
    }
    ts.forEachChild(node, visit)
  }

  visit(tree)
  const isSql = (text: string) => /\b(?:SELECT|WHERE|UPDATE)\b|\n {2}/.test(text)
  return texts.filter((text) => text.trim().split(' ').length > 3 && !isSql(text))
}
