import ts from 'typescript'
import type { Source } from '../source/tree.js'

/**
 * Literals that are taken apart in the same expression, as `path:line: what to write instead`. TypeScript does not
 * check for excess properties inside a spread literal, so a misspelt option compiles there.
 */
export function packedLiterals({ path, tree }: Source): string[] {
  const found: string[] = []

  const report = (node: ts.Node, advice: string): void => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1
    found.push(`${path}:${line}: ${advice}`)
  }

  const visit = (node: ts.Node): void => {
    if (isSpreadLiteral(node))
      report(node, 'an object literal spread into a literal: write its properties')
    if (isTakenApart(node))
      report(node, 'a tuple literal destructured where it stands: write a statement for each')
    ts.forEachChild(node, visit)
  }

  visit(tree)
  return found
}

/** True for `{ ...{ a, b }, c }`. False for a conditional spread (`...(x && { a })`), which has no other form. */
function isSpreadLiteral(node: ts.Node): boolean {
  return ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(bare(node.expression))
}

/** True for `const [a, b] = [x, y]` and `[a, b] = [b, a]`, in separate statements and in loop heads. */
function isTakenApart(node: ts.Node): boolean {
  if (ts.isVariableDeclaration(node)) {
    return (
      ts.isArrayBindingPattern(node.name) &&
      node.initializer !== undefined &&
      ts.isArrayLiteralExpression(bare(node.initializer))
    )
  }
  return (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
    ts.isArrayLiteralExpression(bare(node.left)) &&
    ts.isArrayLiteralExpression(bare(node.right))
  )
}

/** An expression without the parentheses and type assertions around it. */
function bare(node: ts.Expression): ts.Expression {
  const isWrapped =
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node)
  return isWrapped ? bare(node.expression) : node
}
