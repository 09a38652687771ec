import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { clauseComments, longTitles, ROOMS, roomOf } from './figures/ceilings.js'
import { COMMENT_WIDTH, wideComments } from './figures/comments.js'
import { functionsOf, type MeasuredFunction } from './figures/functions.js'
import { cyclesOf, groupsOf, importsOf } from './figures/imports.js'
import { isByHand, isTest, parse, readTracked, type Source, type TextFile } from './figures/tree.js'

/**
 * Prints the size and shape of the code:
 *
 *   npm run figures                    a table
 *   npm run figures -- --list          with every function, file and line that a figure counts
 *   npm run figures -- --check         exits 1 where a figure is over its limit
 *   npm run figures -- --root <dir>    of another checkout
 */
const LONG_FUNCTION_LINES = 100
const LONG_PARAMETER_LIST = 5
const LONG_FILE_LINES = 350
const FULL_FOLDER_FILES = 15
/** Ceilings of the whole: never raised. */
const PRODUCT_LINES = 47_000
const TRACKED_LINES = 127_000
const TEST_LINES = 58_700
/** Columns that a line of src has on average: nothing is saved by squeezing. */
const MEAN_WIDTH = 43

interface Figure {
  readonly name: string
  readonly value: number
  readonly limit?: number
  /** What the figure counts, one item per line. */
  readonly items?: readonly string[]
}

function measure(files: readonly TextFile[], root: string): Figure[] {
  const byHand = files.filter(({ path }) => isByHand(path))
  const sources = byHand
    .filter(({ path }) => /^(src|test|scripts|examples)\/.*\.tsx?$/.test(path))
    .map(parse)
  const product = sources.filter(({ path }) => path.startsWith('src/') && !isTest(path))
  const tests = sources.filter(({ path }) => isTest(path))
  return [
    {
      name: 'tracked lines without lockfile',
      value: linesOf(files.filter(({ path }) => path !== 'package-lock.json')),
      limit: TRACKED_LINES,
    },
    { name: 'src lines by hand', value: linesOf(product), limit: PRODUCT_LINES },
    { name: 'test lines', value: linesOf(tests), limit: TEST_LINES },
    ...functionFigures(product.flatMap(functionsOf)),
    ...fileFigures(
      'src and scripts',
      sources.filter(({ path }) => !isTest(path)),
    ),
    ...fileFigures('tests', tests),
    folderFigure(product),
    ...roomFigures(product),
    ...importFigures(product),
    counted(`comment lines over ${COMMENT_WIDTH} columns`, byHand.flatMap(wideComments), 0),
    { name: 'mean width of a line of src', value: meanWidth(product), limit: MEAN_WIDTH },
    counted('comments of src that begin with a clause', product.flatMap(clauseComments), 0),
    counted('titles of commits over 72 characters', longTitles(root), 0),
  ]
}

function roomFigures(product: readonly Source[]): Figure[] {
  const rooms = [...new Set(product.map(({ path }) => roomOf(path)))].sort()
  return rooms.map((room) => ({
    name: `lines of src/${room}`,
    value: linesOf(product.filter(({ path }) => roomOf(path) === room)),
    limit: ROOMS[room] ?? 0,
  }))
}

/** Mean columns of all lines, empty ones too, to one decimal. */
function meanWidth(product: readonly Source[]): number {
  const columns = product.reduce((sum, { text, lines }) => sum + text.length - lines, 0)
  return Math.round((columns * 10) / linesOf(product)) / 10
}

function linesOf(files: readonly TextFile[]): number {
  return files.reduce((sum, { lines }) => sum + lines, 0)
}

function counted(name: string, items: readonly string[], limit?: number): Figure {
  return { name, value: items.length, items, ...(limit === undefined ? {} : { limit }) }
}

function functionFigures(functions: readonly MeasuredFunction[]): Figure[] {
  const lengths = functions.map(({ lines }) => lines).sort((a, b) => a - b)
  const quantile = (part: number) => lengths[Math.floor(lengths.length * part)] ?? 0
  const long = functions.filter(({ lines }) => lines > LONG_FUNCTION_LINES)
  const wide = functions.filter(({ parameters }) => parameters >= LONG_PARAMETER_LIST)
  return [
    { name: 'functions in src', value: functions.length },
    { name: 'lines per function, median', value: quantile(0.5) },
    { name: 'lines per function, 90 %', value: quantile(0.9) },
    { name: 'lines per function, longest', value: lengths.at(-1) ?? 0, limit: LONG_FUNCTION_LINES },
    counted(
      `functions over ${LONG_FUNCTION_LINES} lines`,
      long.map(({ place, lines }) => `${place}: ${lines} lines`),
    ),
    counted(
      `functions with ${LONG_PARAMETER_LIST} or more parameters`,
      wide.map(({ place, parameters }) => `${place}: ${parameters}`),
      10,
    ),
  ]
}

function fileFigures(where: string, sources: readonly Source[]): Figure[] {
  const sorted = [...sources].sort((a, b) => b.lines - a.lines)
  const long = sorted.filter(({ lines }) => lines > LONG_FILE_LINES)
  return [
    { name: `longest file, ${where}`, value: sorted[0]?.lines ?? 0, limit: LONG_FILE_LINES },
    counted(
      `files over ${LONG_FILE_LINES} lines, ${where}`,
      long.map(({ path, lines }) => `${path}: ${lines}`),
    ),
  ]
}

function folderFigure(product: readonly Source[]): Figure {
  const folders = new Map<string, number>()
  for (const { path } of product) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1)
  const full = [...folders].filter(([, files]) => files > FULL_FOLDER_FILES)
  return counted(
    `folders of src with over ${FULL_FOLDER_FILES} files`,
    full.map(([folder, files]) => `${folder}: ${files}`),
    0,
  )
}

function importFigures(product: readonly Source[]): Figure[] {
  const imports = importsOf(product)
  const graph = (folder: string, maxGroups: number, maxEdges: number): Figure[] => {
    const { groups, edges } = groupsOf(imports, folder)
    return [
      counted(`groups in ${folder}`, groups, maxGroups),
      counted(`imports between groups of ${folder}`, edges, maxEdges),
    ]
  }
  const cycles = cyclesOf(imports).map((cycle) => cycle.join(' ↔ '))
  return [
    ...graph('src/registry', 10, 12),
    ...graph('src/db', 10, 13),
    counted('import cycles in src, types included', cycles, 0),
  ]
}

function isOver({ value, limit }: Figure): boolean {
  return limit !== undefined && value > limit
}

function print(figures: readonly Figure[], isListed: boolean, isChecked: boolean): void {
  for (const figure of figures) {
    const { name, value, limit, items = [] } = figure
    const bound = limit === undefined ? '' : `at most ${limit.toLocaleString('en')}`
    const verdict = isOver(figure) ? '  OVER' : ''
    console.log(`${name.padEnd(46)}${value.toLocaleString('en').padStart(8)}  ${bound}${verdict}`)
    if (isListed || (isChecked && isOver(figure)))
      for (const item of items) console.log(`    ${item}`)
  }
}

const { values: options } = parseArgs({
  options: {
    root: { type: 'string', default: join(import.meta.dirname, '..') },
    check: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const figures = measure(readTracked(options.root), options.root)
print(figures, options.list, options.check)
if (options.check && figures.some(isOver)) process.exitCode = 1
