import { describe, expect, it } from 'vitest'
import { proseOf, sentencesOf, wordsOf } from '../scripts/lint/documents.js'
import { packedLiterals } from '../scripts/lint/literals.js'
import { retiredPhrases } from '../scripts/lint/phrases.js'
import { documentProblems, textProblems } from '../scripts/lint/sentences.js'
import { importCycles, longFiles, longFunctions } from '../scripts/lint/shape.js'
import { countTokens } from '../scripts/source/tokens.js'
import { parse, type Source } from '../scripts/source/tree.js'

/** The rules of `npm run lint` that Biome does not have, on sources made for them. */

const source = (path: string, text: string): Source =>
  parse({ path, text, lines: text.split('\n').length - 1 })

describe('packed literals', () => {
  it.each([
    ['const a = { ...{ b, c }, d }'],
    ['const a = { d, ...({ b } as const) }'],
    ['const [a, b] = [x, y]'],
    ['const [{ c }, b] = [x, y] as const'],
    ['let [a, b]: number[] = [1, 2]'],
    ['for (let [i, j] = [0, 1]; i < j; i++);'],
    ['[a, b] = [b, a]'],
    ['if (isLate) [a, b] = [1, 2]'],
  ])('%s is refused', (text) => {
    expect(packedLiterals(source('src/a.ts', text))).toHaveLength(1)
  })

  it.each([
    ['const a = { ...b, c }'],
    ['const a = { ...(isLate && { b }), c }'],
    ['const a = { ...(isLate ? { b } : {}), c }'],
    ['const [a, b] = await Promise.all([x, y])'],
    ['const a = [...[b, c], d]'],
    ['for (const [a, b] of [[1, 2]]) f(a, b)'],
    ['const f = ([a, b]: Pair) => a + b'],
  ])('%s is not', (text) => {
    expect(packedLiterals(source('src/a.ts', text))).toEqual([])
  })

  it('reports the position, and what to write', () => {
    expect(packedLiterals(source('src/a.ts', 'f()\nconst [a, b] = [x, y]'))).toEqual([
      'src/a.ts:2: a tuple literal destructured where it stands: write a statement for each',
    ])
  })
})

describe('the shape of files', () => {
  const statements = (count: number) => 'f()\n'.repeat(count)

  it('a file has at most 450 lines, also one of tests', () => {
    expect(longFiles([source('src/a.ts', statements(450))])).toEqual([])
    expect(longFiles([source('src/a.ts', statements(451))])).toEqual([
      'src/a.ts: 451 lines, at most 450',
    ])
    expect(longFiles([source('test/a.test.ts', statements(451))])).toHaveLength(1)
  })

  it('a function has at most 100 lines, except the body of a test', () => {
    const text = (lines: number) => `function g() {\n${statements(lines - 2)}}\n`
    expect(longFunctions([source('src/a.ts', text(100))])).toEqual([])
    expect(longFunctions([source('src/a.ts', text(101))])).toEqual([
      'src/a.ts:1 g: 101 lines, at most 100',
    ])
    expect(longFunctions([source('test/a.ts', text(101))])).toEqual([])
  })

  it('no files import each other in a circle, types included', () => {
    const a = source('src/a.ts', "import { b } from './b.js'")
    const b = source('src/b.ts', "import type { c } from './c.js'")
    const c = source('src/c.ts', "const a = await import('./a.js')")
    expect(importCycles([a, b])).toEqual([])
    expect(importCycles([a, b, c])).toEqual(['import cycle: src/a.ts ↔ src/b.ts ↔ src/c.ts'])
  })
})

describe('sentences', () => {
  const sentence = (words: number) => `After this page you ${'word '.repeat(words - 5)}end.`

  it.each([
    ['docs/use/a.md', 32],
    ['docs/run/a.md', 40],
  ])('%s has at most %i words in one', (path, longest) => {
    expect(documentProblems(path, sentence(longest))).toEqual([])
    expect(documentProblems(path, sentence(longest + 1))).toHaveLength(1)
  })

  it('no sentence has a word that blurs a fact', () => {
    expect(documentProblems('README.md', 'One would think\nso.')).toEqual([
      `README.md: "would" says nothing or is not the field's word: One would think so.`,
    ])
  })

  it('a page begins with what its reader can do afterwards, except a generated one', () => {
    expect(documentProblems('docs/use/a.md', 'This page is about names.')).toHaveLength(1)
    expect(documentProblems('docs/run/alarms.md', 'This page is about alarms.')).toEqual([])
  })

  it('only sentences in literals that users read are checked', () => {
    const text = `fail('This ${'word '.repeat(32)}is long.')`
    expect(textProblems(source('src/api/a.ts', text))).toHaveLength(1)
    expect(
      textProblems(source('src/web/page/a.tsx', `const a = <p>It is very late now.</p>`)),
    ).toEqual([
      `src/web/page/a.tsx: "very" says nothing or is not the field's word: It is very late now.`,
    ])
    expect(textProblems(source('src/db/a.ts', text))).toEqual([])
  })

  it('code, tables and headings are not prose', () => {
    expect(proseOf('# Would\n\n| would | b |\n\n```sh\nwould\n```\n\nText.\n')).toEqual(['Text.'])
    expect(sentencesOf('One. Two: three; four\nfive.')).toEqual([
      'One.',
      'Two:',
      'three;',
      'four five.',
    ])
    expect(wordsOf(' one  two\n')).toBe(2)
  })
})

describe('retired phrases', () => {
  const inFile = (path: string, text: string) =>
    retiredPhrases({ path, text, lines: text.split('\n').length - 1 })
  const linesOf = (text: string) =>
    inFile('src/db/a.ts', text).map((problem) => problem.split(':')[1])

  it.each([
    ['in a comment', '// the peer is told so'],
    ['at the beginning of a sentence', '/** Lacks a key. */'],
    ['in a text', "throw new Error('the account is none of ours')"],
    ['as an identifier', 'const told = 1'],
    ['as the first part of a name', 'const toldAt = 1'],
    ['as a later part of a name', 'const isTold = true'],
    ['of two words, in a name', 'const lookedAtMs = 1'],
    ['in capitals', 'const MAX_DEEDS = 1'],
    ['of two words, in capitals', 'const LOOKED_AT_TOGETHER = 1'],
  ])('a phrase is found %s', (_, text) => {
    expect(linesOf(text)).toEqual(['1'])
  })

  it('a phrase is found where a comment continues it on the next line', () => {
    expect(linesOf('/**\n * Blocks that are laid\n * aside.\n */')).toEqual(['2'])
    expect(linesOf('f()\n// a row is held\n// up by another')).toEqual(['2'])
  })

  it.each([
    ['// there are none, or there is none'],
    ['// a 32-byte EVM word, a look-up, ORDER BY'],
    ['const untoldStory = foretold + indeed'],
    ['const Black = slacks'],
  ])('%s: not found', (text) => {
    expect(linesOf(text)).toEqual([])
  })

  it('the problem names the words of the field', () => {
    expect(inFile('contracts/evm/src/A.sol', 'f();\n/// The hub lacks a peer')).toEqual([
      'contracts/evm/src/A.sol:2: "lacks" is not the field\'s word: write "does not have, or is missing"',
    ])
  })

  it('documents and schemas are checked, migrations and built files are not', () => {
    expect(inFile('docs/a.md', 'in vain')).toHaveLength(1)
    expect(inFile('prisma/schema.prisma', '/// in vain')).toHaveLength(1)
    expect(inFile('prisma/migrations/1/migration.sql', '-- in vain')).toEqual([])
    expect(inFile('package-lock.json', '"in vain"')).toEqual([])
  })
})

describe('the count of tokens', () => {
  it('does not depend on layout or comments', () => {
    const packed = source('src/a.ts', 'const a={b:[1,c]}')
    const laidOut = source('src/a.ts', '// of b\nconst a = {\n  b: [1, c]\n}\n')
    expect(countTokens(packed)).toBe(countTokens(laidOut))
    expect(countTokens(packed)).toBe(12)
  })
})
