import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import ts from 'typescript'
import { buildCommandLine } from '../support/commandLine.js'

/** What scripts, deployments and projects of others name of a build. */
export interface Surface {
  /** Environment variables. */
  variables: string[]
  /** Commands with their options: `outbox list`, `outbox list --all`. */
  commands: string[]
  /** Values and types that the packages export: `client/verify LogReader`. */
  exports: string[]
}

/** Entries of both packages. */
const ENTRIES = {
  client: 'client/index.ts',
  'client/verify': 'client/verify.ts',
  'client/react': 'client/react/index.ts',
  contracts: 'contracts/index.ts',
  testing: 'testing/index.ts',
}

/**
 * Reads the surface of a work tree.
 * @param tree absolute
 * @param entries those that the build has
 */
export async function surfaceOf(
  tree: string,
  entries = Object.keys(ENTRIES) as (keyof typeof ENTRIES)[],
): Promise<Surface> {
  const cli = pathToFileURL(join(tree, 'src/cli.ts')).href
  const environment = readFileSync(join(tree, 'src/config/environment.ts'), 'utf8')
  return {
    variables: [...environment.matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(([, name]) => name!),
    commands: commandsOf(await buildCommandLine(() => import(cli))),
    exports: entries.flatMap((entry) =>
      exportedNames(join(tree, 'src', ENTRIES[entry])).map((name) => `${entry} ${name}`),
    ),
  }
}

function commandsOf(command: Command, path: readonly string[] = []): string[] {
  const own = [path.join(' '), ...command.options.map(({ long }) => [...path, long].join(' '))]
  return own
    .filter((text) => text !== '')
    .concat(command.commands.flatMap((one) => commandsOf(one, [...path, one.name()])))
}

/** Names that a module exports, also by `export *` of a module beside it. */
function exportedNames(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  return statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const clause = statement.exportClause
      if (clause) return (clause as ts.NamedExports).elements.map(({ name }) => name.text)
      const { text: other } = statement.moduleSpecifier as ts.StringLiteral
      return exportedNames(join(dirname(path), other.replace(/\.js$/, '.ts')))
    }
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    if (!isExported) return []
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => (name as ts.Identifier).text)
    return [(statement as ts.ClassDeclaration).name!.text]
  })
}
