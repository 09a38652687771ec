import { readFileSync } from 'node:fs'

/** package.json lies three levels above `src/api/http` and `dist/api/http`. */
export const SERVICE_VERSION: string = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
).version
