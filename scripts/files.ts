import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

export const ROOT = join(import.meta.dirname, '..')
/** The compiler of TypeScript 5.9, to run by Node. `.bin/tsc` may be that of 7, which only checks types here. */
export const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

/** Files in a folder of the project and below it, by their paths in the project, in order. */
export const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort()
