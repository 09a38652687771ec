import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')
export const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map(
    (file) => `docs/${file}`,
  ),
].filter((path) => path.endsWith('.md'))
export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** GitHub's id of a heading. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

/** Ids of a document's headings. */
export const headingsOf = (path: string): string[] =>
  [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slugOf(heading!))

/** Targets of `[text](target)` within the project: a path from its root, and the id of a heading or ''. */
export const linksOf = (path: string): { path: string; anchor: string }[] =>
  [...read(path).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].map(
    ([, target, anchor = '']) => ({
      path: target ? normalize(join(dirname(path), target)) : path,
      anchor,
    }),
  )

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
