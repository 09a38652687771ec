import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')
export const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map(
    (file) => `docs/${file}`,
  ),
].filter((path) => path.endsWith('.md'))
export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const FENCED = /^ *```(\w*)\n([\s\S]*?)^ *```/gm

/** Code spans (text in backticks) of a document, each on one line. */
export const spansOf = (text: string): string[] =>
  [...text.replace(FENCED, '').matchAll(/`([^`]+)`/g)].map(([, span]) => span!.replace(/\s+/g, ' '))

/** Lines of a document's shell blocks, without comments. */
export const shellOf = (text: string): string[] =>
  [...text.matchAll(FENCED)].flatMap(([, language, code]) =>
    language === 'sh' ? code!.split('\n').map((line) => line.replace(/(^|\s)#.*/, '')) : [],
  )

/** Rows of a document's tables, each as its cells. */
export const rowsOf = (text: string): string[][] =>
  [...text.matchAll(/^\| (.*) \|$/gm)].map(([, row]) =>
    row!.split(' | ').map((cell) => cell.trim()),
  )

/** Paragraphs and list items, a line each, without code, tables, headings, images and comments. */
export const proseOf = (text: string): string[] =>
  text
    .replace(FENCED, '\n')
    .replace(/<!--[\s\S]*?-->/g, '\n')
    .replace(/^(?:#|\||!\[).*$/gm, '')
    .replace(/^ *(?:[-*]|\d+\.) /gm, '\n')
    .split(/\n\s*\n/)
    .map((part) =>
      part
        .replace(/\]\([^)]*\)/g, ']')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((part) => part !== '')

/** Sentences, split after a full stop, question or exclamation mark, colon or semicolon before a space. */
export const sentencesOf = (text: string): string[] =>
  proseOf(text).flatMap((part) => part.split(/(?<=[.?!:;]["'”’)*`]*) (?=\S)/))

/** Counts words like `wc -w`. */
export const wordsOf = (text: string): number =>
  text.split(/\s+/).filter((word) => word !== '').length
