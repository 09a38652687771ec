import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { DEFAULT_OPS_PORT, DEFAULT_PORT, readEnvironment } from '../../src/config/index.js'

/** Time for requests, steps and connections after a drain (test/cli/deploy.test.ts), seconds. */
export const END_S = 25
export const PORTS = { api: DEFAULT_PORT, ops: DEFAULT_OPS_PORT }

const source = readFileSync('src/config/environment.ts', 'utf8')
/** Every variable that a start reads. */
export const VARIABLES: ReadonlySet<string> = new Set(
  [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(([, name]) => name!),
)

/** Names of files that hold secrets. */
const SECRET_FILES: ReadonlySet<string> = new Set(
  [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+): markAsSecret\((?:.*'([A-Z_]+)')?/gm)].flatMap(
    ([, variable, other]) => [`${variable}_FILE`, ...(other ? [other] : [])],
  ),
)

/** Names that no variable of clusterd has. */
export const unknownVariables = (names: Iterable<string>): string[] =>
  [...names].filter(
    (name) => !VARIABLES.has(name) && !SECRET_FILES.has(name) && name !== 'NODE_ENV',
  )

/** Checks values as a start does. @throws ConfigError */
export const checkEnvironment = readEnvironment

/** Documents of a YAML file. @throws Error for a mistake of its syntax */
export function yamlDocuments<T>(path: string): T[] {
  return parseAllDocuments(readFileSync(path, 'utf8'), { merge: true }).map((document) => {
    for (const error of [...document.errors, ...document.warnings])
      throw new Error(`${path}: ${error.message}`)
    return document.toJS() as T
  })
}
