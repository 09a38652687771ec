import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A tracked text file. */
export interface TextFile {
  /** Path from the root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly lines: number
}

/** A TypeScript file, parsed. */
export interface Source extends TextFile {
  readonly tree: ts.SourceFile
}

const BINARY = /\.(so|wasm|png|ico)$/

/** All text files below `root` that git tracks, without files that are deleted in the work tree. */
export function readTracked(root: string): TextFile[] {
  const output = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  return output
    .split('\0')
    .filter((path) => path !== '' && !BINARY.test(path) && existsSync(join(root, path)))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return { path, text, lines: text.split('\n').length - 1 }
    })
}

/** True for a file written by hand: false in folders `generated` and `artifacts`. */
export const isByHand = (path: string): boolean => !/(^|\/)(generated|artifacts)\//.test(path)

export const isTest = (path: string): boolean =>
  path.startsWith('test/') || path.endsWith('.test.ts')

export function parse(file: TextFile): Source {
  return { ...file, tree: ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2022, true) }
}
