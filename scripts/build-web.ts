/**
 * Turns src/web/page (HTML, CSS, TypeScript for the browser) into one module that the API serves from: no bundler, each file
 * stays an ES module of its own.
 *
 *   tsx scripts/build-web.ts           writes src/web/generated/assets.ts
 *   tsx scripts/build-web.ts --check   writes nothing, exits 1 if that file differs from what the sources give
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'

const ROOT = join(import.meta.dirname, '..')
const PAGE = join(ROOT, 'src/web/page')
const OUTPUT = join(ROOT, 'src/web/generated/assets.ts')

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
  // in the addresses of the files, so that they may be kept for good
  const build = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 12)
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8').replaceAll('{assets}', `/assets/${build}`)
  return [
    '// Generated from src/web/page by `npm run web`; not to be edited.\n',
    `export const build = '${build}'\n`,
    `export const html = ${JSON.stringify(html)}\n`,
    `export const files: Readonly<Record<string, string>> = ${JSON.stringify(files, null, 2)}\n`,
  ].join('\n')
}

/** Whether the generated module is what the sources give. */
export const isWebCurrent = (): boolean => existsSync(OUTPUT) && readFileSync(OUTPUT, 'utf8') === generateWeb()

function main(): void {
  if (process.argv.includes('--check')) {
    if (isWebCurrent()) return
    console.error('src/web/generated/assets.ts is not what src/web/page gives; run `npm run web`')
    process.exitCode = 1
    return
  }
  mkdirSync(dirname(OUTPUT), { recursive: true })
  writeFileSync(OUTPUT, generateWeb())
  console.log('src/web/generated/assets.ts')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main()
