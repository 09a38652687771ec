import { readdirSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { DOCUMENTS, proseOf, read, sentencesOf, wordsOf } from './support/documents.js'

/** Plain words: lengths of the documents and of their sentences, and words that say nothing or are our own. */

const PAGES = DOCUMENTS.filter((path) => path.startsWith('docs/'))
/** Written by a program from the text of routes, metrics and alerts. */
const GENERATED = ['docs/run/alarms.md', 'docs/run/metrics.md', 'docs/use/events.md']
const BY_HAND = PAGES.filter((path) => !GENERATED.includes(path))

/** Words of a sentence: of a visitor's or a client's pages, and of the others. */
const longestOf = (path: string): number =>
  path === 'README.md' || path.startsWith('docs/use/') ? 32 : 40

/** Jargon of our own, and words that blur a fact. */
const BANNED = [
  ...[
    'believed',
    'said to be',
    'laid aside',
    'looked at',
    'is to be',
    'are to be',
    'would',
    'whatever',
    'thereof',
  ],
  ...[
    'in order to',
    'utilize',
    'leverage',
    'simply',
    'just',
    'very',
    'basically',
    'obviously',
    'of course',
  ],
]
const banned = new RegExp(`\\b(?:${BANNED.join('|')})\\b`, 'gi')

describe.each(DOCUMENTS)('%s', (path) => {
  const sentences = sentencesOf(read(path))

  it('has sentences that are read once', () => {
    expect(sentences.filter((sentence) => wordsOf(sentence) > longestOf(path))).toEqual([])
  })

  it('has no word that blurs a fact', () => {
    expect(sentences.filter((sentence) => sentence.match(banned))).toEqual([])
  })
})

it.each(BY_HAND)('%s begins with what its reader can do after it', (path) => {
  expect(sentencesOf(read(path))[0]).toMatch(/^After this page you /)
})

it('the documents are short enough to be read', () => {
  expect(wordsOf(read('README.md'))).toBeLessThanOrEqual(900)
  expect(wordsOf(BY_HAND.map(read).join('\n'))).toBeLessThanOrEqual(24_135)
})

/** Texts in the code of the pages, the command line and the API: messages, labels, descriptions. */
function textsOf(path: string): string[] {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) texts.push(node.text)
    if (ts.isTemplateExpression(node))
      texts.push(
        [node.head, ...node.templateSpans.map((s) => s.literal)].map((s) => s.text).join('…'),
      )
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true))
  return texts.filter(
    (text) => text.trim().split(' ').length > 3 && !/\b(?:SELECT|WHERE|UPDATE)\b|\n {2}/.test(text),
  )
}

it('users read no long sentence and no blurred one', () => {
  const folders = ['api', 'cli', 'config', 'web/page'].map((folder) => `src/${folder}`)
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((file) => `${folder}/${file}`),
  )
  const sources = files.filter((file) => /^(?!.*\.test\.).*\.tsx?$/.test(file))
  const sentences = sources.flatMap(textsOf).flatMap(sentencesOf)
  expect(sentences.length).toBeGreaterThan(500)
  expect(sentences.filter((sentence) => wordsOf(sentence) > 32 || sentence.match(banned))).toEqual(
    [],
  )
})

it('a long sentence and a blurred one are found', () => {
  const [long, plain] = sentencesOf(
    `# Title\n\n${'word '.repeat(40)}end. One would think\nso.\n\n| a | b |\n`,
  )
  expect(wordsOf(long!)).toBe(41)
  expect(plain).toMatch(banned)
  expect(proseOf('```sh\nwould\n```\n')).not.toContain('would')
})
