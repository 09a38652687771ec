import ts from 'typescript'
import { parse, type TextFile } from './tree.js'

/** Width of a comment line in columns; Biome wraps code at the same width, but no comments. */
export const COMMENT_WIDTH = 120

const LINE_COMMENT: Record<string, RegExp> = {
  sol: /^\s*(\/\/|\/?\*)/,
  prisma: /^\s*\/\//,
  sql: /^\s*--/,
}

/**
 * `path:line` of each comment line wider than `COMMENT_WIDTH`, in TypeScript, Solidity, Prisma and SQL. Rust is left
 * out: the checksums of the committed program cover its sources, and rebuilding needs a toolchain.
 */
export function wideComments(file: TextFile): string[] {
  const extension = file.path.split('.').at(-1) ?? ''
  const lines = file.text.split('\n')
  if (!lines.some((line) => line.length > COMMENT_WIDTH)) return []
  const isComment =
    extension === 'ts'
      ? commentFinder(file)
      : (_: number, line: string) => LINE_COMMENT[extension]?.test(line)
  return lines.flatMap((line, index) =>
    line.length > COMMENT_WIDTH && isComment(index, line) ? [`${file.path}:${index + 1}`] : [],
  )
}

/** Tells whether the last column of a line belongs to a comment; `//` inside a string is none. */
function commentFinder(file: TextFile): (index: number, line: string) => boolean {
  const { tree, text } = parse(file)
  const ranges = new Map<number, number>()
  const visit = (node: ts.Node): void => {
    const around = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ]
    for (const { pos, end } of around) ranges.set(pos, end)
    for (const child of node.getChildren(tree)) visit(child)
  }
  visit(tree)
  return (index, line) => {
    const end = tree.getPositionOfLineAndCharacter(index, line.length)
    return [...ranges].some(([from, to]) => from < end && end <= to)
  }
}
