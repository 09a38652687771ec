import { functionsOf } from '../source/functions.js'
import { cyclesOf, importsOf } from '../source/imports.js'
import { isTest, type Source } from '../source/tree.js'

const LONGEST_FILE_LINES = 450
const LONGEST_FUNCTION_LINES = 100

/** Files over `LONGEST_FILE_LINES`, as `path: problem`. */
export function longFiles(sources: readonly Source[]): string[] {
  return sources
    .filter(({ lines }) => lines > LONGEST_FILE_LINES)
    .map(({ path, lines }) => `${path}: ${lines} lines, at most ${LONGEST_FILE_LINES}`)
}

/**
 * Functions over `LONGEST_FUNCTION_LINES`, as `path:line name: problem`. Tests are not checked: the body of a
 * `describe` is a list of tests.
 */
export function longFunctions(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !isTest(path))
    .flatMap(functionsOf)
    .filter(({ lines }) => lines > LONGEST_FUNCTION_LINES)
    .map(({ place, lines }) => `${place}: ${lines} lines, at most ${LONGEST_FUNCTION_LINES}`)
}

/** Groups of files that import each other in a cycle, type imports included, as problems. */
export function importCycles(sources: readonly Source[]): string[] {
  const product = sources.filter(({ path }) => path.startsWith('src/') && !isTest(path))
  return cyclesOf(importsOf(product)).map((cycle) => `import cycle: ${cycle.join(' ↔ ')}`)
}
