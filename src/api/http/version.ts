import { readFileSync } from 'node:fs'

/** The version of this package: the same two levels up from `src/api` and from `dist/api`. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
).version
