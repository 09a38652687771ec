import { readFileSync } from 'node:fs'

/** Version in package.json, which lies two levels above `src/ops` and `dist/ops`. */
export const SERVICE_VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version

/** User-Agent of requests to nodes: some providers refuse requests without one. */
export const USER_AGENT = `clusterd/${SERVICE_VERSION}`
