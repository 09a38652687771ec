import { openApiDocuments } from '../src/api/routes.js'
import { writeOrCheck } from './generatedFile.js'

/**
 * Writes the OpenAPI documents of docs/ from the routes' schemas; with --check only compares them.
 *
 *   npm run openapi [-- --check]
 */
const MAX_COLUMNS = 100

/** JSON in which a value that fits its line stays on it, so that a reviewer sees `{"$ref":"…"}` as one thing. */
function jsonLines(value: unknown, indent = ''): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= MAX_COLUMNS) return line
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const parts = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .map(([key, part]) => `${inner}${isList ? '' : `${JSON.stringify(key)}: `}${jsonLines(part, inner)}`)
  return `${isList ? '[' : '{'}\n${parts.join(',\n')}\n${indent}${isList ? ']' : '}'}`
}

for (const [path, document] of Object.entries(openApiDocuments))
  writeOrCheck(`docs${path}`, `${jsonLines(document())}\n`, 'openapi')
