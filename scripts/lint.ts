import { join } from 'node:path'
import { DOCUMENTS, read } from './lint/documents.js'
import { packedLiterals } from './lint/literals.js'
import { retiredPhrases } from './lint/phrases.js'
import { documentProblems, textProblems } from './lint/sentences.js'
import { importCycles, longFiles, longFunctions } from './lint/shape.js'
import { isByHand, parse, readTracked } from './source/tree.js'

/**
 * Checks what Biome has no rule for, a line for each problem. `npm run lint` runs it after Biome.
 *
 *   tsx scripts/lint.ts    exits 1 where it finds a problem
 */
const files = readTracked(join(import.meta.dirname, '..')).filter(({ path }) => isByHand(path))
const sources = files.filter(({ path }) => /\.[mc]?tsx?$/.test(path)).map(parse)

const problems = [
  ...longFiles(sources),
  ...longFunctions(sources),
  ...importCycles(sources),
  ...sources.flatMap(packedLiterals),
  ...sources.filter(({ path }) => !path.endsWith('.test.ts')).flatMap(textProblems),
  ...files.flatMap(retiredPhrases),
  ...DOCUMENTS.flatMap((path) => documentProblems(path, read(path))),
]

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
