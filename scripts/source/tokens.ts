import ts from 'typescript'
import type { Source } from './tree.js'

/**
 * Number of tokens of a file as TypeScript's scanner finds them: identifiers, keywords, punctuation, literals. Layout
 * and comments do not count. A name in a documentation tag (`@param name`) counts, since the scanner reads the tag.
 */
export function countTokens({ tree }: Source): number {
  let tokens = 0

  const visit = (node: ts.Node): void => {
    const isToken = node.kind <= ts.SyntaxKind.LastToken
    if (isToken && node.kind !== ts.SyntaxKind.EndOfFileToken && node.getWidth(tree) > 0)
      tokens += 1
    for (const child of node.getChildren(tree)) visit(child)
  }

  visit(tree)
  return tokens
}
