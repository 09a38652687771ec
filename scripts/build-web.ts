/**
 * Turns src/web/page (HTML, CSS, TypeScript for the browser) into one module from which the API serves the page. No
 * bundler: each file stays an ES module. `npm run generate` writes the module to src/web/generated.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const ROOT = join(import.meta.dirname, '..')
const PAGE = join(ROOT, 'src/web/page')

/** Every file that the page loads: name in the browser, and content. */
function assets(): Record<string, string> {
  const files = readdirSync(PAGE).sort()
  const modules = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const compilerOptions: ts.CompilerOptions = {
    ...{
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ES2022,
      verbatimModuleSyntax: true,
      removeComments: true,
    },
  }
  return {
    ...Object.fromEntries(
      modules.map((file) => {
        const { outputText } = ts.transpileModule(readFileSync(join(PAGE, file), 'utf8'), { compilerOptions })
        return [file.replace(/\.ts$/, '.js'), outputText]
      }),
    ),
    'style.css': readFileSync(join(PAGE, 'style.css'), 'utf8'),
  }
}

/** The generated module as the sources give it. */
export function generateWeb(): string {
  const files = assets()
  // in the addresses of the files, so that browsers may cache them for ever
  const build = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 12)
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8').replaceAll('{assets}', `/assets/${build}`)
  return [
    '// Generated from src/web/page by `npm run generate`; not to be edited.\n',
    `export const build = '${build}'\n`,
    `export const html = ${JSON.stringify(html)}\n`,
    `export const files: Readonly<Record<string, string>> = ${JSON.stringify(files, null, 2)}\n`,
  ].join('\n')
}
