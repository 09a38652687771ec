import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { functionsOf } from './source/functions.js'
import { countTokens } from './source/tokens.js'
import { isByHand, isTest, parse, readTracked, type Source } from './source/tree.js'

/**
 * Prints the size of the code. A report only: it never fails, and `npm run lint` has the limits.
 *
 *   npm run figures                    tokens by folder of src, and of tests, scripts and examples
 *   npm run figures -- --root <dir>    of another checkout
 */
interface Row {
  readonly name: string
  readonly files: number
  readonly lines: number
  readonly tokens: number
}

function measure(name: string, sources: readonly Source[]): Row {
  let lines = 0
  let tokens = 0
  for (const source of sources) {
    lines += source.lines
    tokens += countTokens(source)
  }
  return { name, files: sources.length, lines, tokens }
}

/** Folder of a file of src, `(top)` for a file of src itself. */
function folderOf(path: string): string {
  const parts = path.split('/')
  return parts.length > 2 ? parts[1]! : '(top)'
}

function print({ name, files, lines, tokens }: Row): void {
  const columns = [files, lines, tokens].map((value) => value.toLocaleString('en').padStart(10))
  console.log(`${name.padEnd(24)}${columns.join('')}`)
}

const { values: options } = parseArgs({
  options: { root: { type: 'string', default: join(import.meta.dirname, '..') } },
})

const sources = readTracked(options.root)
  .filter(({ path }) => isByHand(path))
  .filter(({ path }) => /^(src|test|scripts|examples)\/.*\.tsx?$/.test(path))
  .map(parse)
const product = sources.filter(({ path }) => path.startsWith('src/') && !isTest(path))
const folders = [...new Set(product.map(({ path }) => folderOf(path)))].sort()
const others = sources.filter(({ path }) => !path.startsWith('src/') && !isTest(path))

console.log(
  `${''.padEnd(24)}${['files', 'lines', 'tokens'].map((name) => name.padStart(10)).join('')}`,
)
for (const folder of folders) {
  const inFolder = product.filter(({ path }) => folderOf(path) === folder)
  print(measure(`src/${folder}`, inFolder))
}
print(measure('src', product))
print(
  measure(
    'tests',
    sources.filter(({ path }) => isTest(path)),
  ),
)
print(measure('scripts and examples', others))

const functions = product.flatMap(functionsOf)
const longest = functions.toSorted((a, b) => b.lines - a.lines).slice(0, 3)
console.log(`\n${functions.length} functions in src, the longest:`)
for (const { place, lines } of longest) console.log(`  ${place}: ${lines} lines`)
