import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openApiDocument } from '../src/api/http/openapi.js'
import { VERSION } from '../src/api/http/version.js'
import { routes } from '../src/api/server.js'

/** Writes docs/openapi.json from the routes' schemas; with --check only says whether it is up to date. */
const FILE = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))
const text = `${JSON.stringify(openApiDocument(routes, VERSION), null, 2)}\n`

if (process.argv.includes('--check')) {
  const isCurrent = readFileSync(FILE, 'utf8') === text
  console.log(isCurrent ? 'docs/openapi.json is up to date' : 'docs/openapi.json has drifted: run `npm run openapi`')
  process.exitCode = isCurrent ? 0 : 1
} else {
  writeFileSync(FILE, text)
  console.log(`wrote ${FILE}`)
}
