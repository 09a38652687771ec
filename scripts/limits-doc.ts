import { readFileSync } from 'node:fs'
import type { Route } from '../src/api/http/route.js'
import { priceOfRoute } from '../src/api/limits/costs.js'
import { openApiDocuments, routes } from './declaredRoutes.js'
import { writeOrCheck } from './generatedFile.js'

/**
 * Writes the price list of docs/use/limits.md from the routes' declarations; with --check only compares it.
 *
 *   npm run limits-doc [-- --check]
 */
const PATH = 'docs/use/limits.md'
const BEGIN = '<!-- prices, by `npm run limits-doc` -->\n'
const END = '<!-- end of prices -->\n'

const nameOf = ({ method, path, aliases = [] }: Route): string =>
  [path, ...aliases].map((one) => `\`${method.toUpperCase()} ${one}\``).join(', ')

const byPrice = new Map<string, string[]>()
for (const route of routes) {
  const { text } = priceOfRoute(route)
  byPrice.set(text, [...(byPrice.get(text) ?? []), nameOf(route)])
}
const others = [
  ...Object.keys(openApiDocuments).map((path) => `\`GET ${path}\``),
  'pages',
  'unknown paths',
]
byPrice.get('1')!.push(...others)

const rows = [...byPrice]
  .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
  .map(([price, names]) => `| ${price} | ${names.join(', ')} |\n`)
const table = `| units | requests |\n| --- | --- |\n${rows.join('')}`

const text = readFileSync(PATH, 'utf8')
const before = text.slice(0, text.indexOf(BEGIN) + BEGIN.length)
const after = text.slice(text.indexOf(END))
writeOrCheck(PATH, `${before}${table}${after}`, 'limits-doc')
