import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE_FOLDER = fileURLToPath(new URL('../../..', import.meta.url))
const SOURCE_POSITION_PATTERN = /^(.+):(\d+):(\d+)$/
/** Source maps of files in which errors were created, by file. Null for a file without a source map. */
const sourceMaps = new Map<string, SourceMap | null>()

/** Position in the package's sources of a position in its bundle; the same position where no source map exists. */
export function toSourcePosition(place: string): string {
  const [, at = '', line, column] = SOURCE_POSITION_PATTERN.exec(place) ?? []
  const file = at.startsWith('file:') ? fileURLToPath(at) : at
  if (!sourceMaps.has(file)) sourceMaps.set(file, readSourceMap(file))
  const mapping = sourceMaps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1)
  if (!mapping || !('originalSource' in mapping)) return place
  const source = relative(PACKAGE_FOLDER, resolve(dirname(file), mapping.originalSource))
  return `${source}:${mapping.originalLine + 1}:${mapping.originalColumn + 1}`
}

function readSourceMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  } catch {
    return null
  }
}
