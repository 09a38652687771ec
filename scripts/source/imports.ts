import { posix } from 'node:path'
import ts from 'typescript'
import type { Source } from './tree.js'

/** By path of a file, the paths of the files that it imports, type imports included. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>

export function importsOf(sources: readonly Source[]): Imports {
  const known = new Set(sources.map(({ path }) => path))
  return new Map(sources.map((source) => [source.path, targetsOf(source, known)]))
}

function targetsOf({ path, tree }: Source, known: ReadonlySet<string>): Set<string> {
  const targets = new Set<string>()
  const add = (specifier: ts.Node | undefined) => {
    if (!specifier || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.')) return
    const target = posix.join(posix.dirname(path), specifier.text).replace(/\.js$/, '.ts')
    if (known.has(target)) targets.add(target)
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0])
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return targets
}

/** Groups of files that import each other in a cycle (strongly connected components of two or more, by Tarjan). */
export function cyclesOf(imports: Imports): string[][] {
  const order = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (path: string): number => {
    const index = order.size
    order.set(path, index)
    stack.push(path)
    let lowest = index
    for (const target of imports.get(path) ?? []) {
      if (!order.has(target)) lowest = Math.min(lowest, visit(target))
      else if (stack.includes(target)) lowest = Math.min(lowest, order.get(target)!)
    }
    if (lowest === index) {
      const component = stack.splice(stack.indexOf(path))
      if (component.length > 1) cycles.push(component.sort())
    }
    return lowest
  }
  for (const path of imports.keys()) if (!order.has(path)) visit(path)
  return cycles
}
