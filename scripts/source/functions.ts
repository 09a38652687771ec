import ts from 'typescript'
import type { Source } from './tree.js'

/** One function in a file. */
export interface MeasuredFunction {
  /** `path:line name` */
  readonly place: string
  readonly lines: number
  readonly parameters: number
}

/**
 * Measures declared functions, methods, accessors, named arrow functions and arrow functions with a block. Anonymous
 * arrow functions of one expression (callbacks of `map`) are left out, since they make the median meaningless.
 */
export function functionsOf({ path, tree }: Source): MeasuredFunction[] {
  const found: MeasuredFunction[] = []
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node): void => {
    if (isMeasured(node)) {
      const start = node.getStart(tree)
      found.push({
        place: `${path}:${lineAt(start) + 1} ${nameOf(node)}`,
        lines: lineAt(node.end) - lineAt(start) + 1,
        parameters: node.parameters.length,
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function isMeasured(node: ts.Node): node is ts.FunctionLikeDeclaration {
  if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return false
  return !ts.isArrowFunction(node) || ts.isBlock(node.body) || isNamed(node)
}

const isNamed = ({ parent }: ts.Node): boolean =>
  ts.isVariableDeclaration(parent) ||
  ts.isPropertyAssignment(parent) ||
  ts.isPropertyDeclaration(parent)

function nameOf(node: ts.FunctionLikeDeclaration): string {
  if (node.name) return node.name.getText()
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  return isNamed(node) ? (node.parent as ts.VariableDeclaration).name.getText() : '(anonymous)'
}
