import http from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { routes } from '../routes.js'
import { createMatcher, type Entry } from './matcher.js'

/** Paths of every route, and some that are harder: barriers, mixed parts, the same shape twice. */
const entries: Entry<string>[] = [
  { method: 'get', path: '/', value: '/' },
  { method: 'get', path: '/openapi.json', value: '/openapi.json' },
  { method: 'get', path: '/a/:x.svg', value: '/a/:x.svg' },
  { method: 'get', path: '/a/:x', value: '/a/:x' },
  { method: 'get', path: '/b/:x', value: '/b/:x' },
  { method: 'get', path: '/b/c', value: '/b/c' },
  ...routes.flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((own) => ({ method, path: own, value: own })),
  ),
]
const match = createMatcher(entries)
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
let server: http.Server

beforeAll(async () => {
  const app: Express = express()
  app.set('query parser', false)
  for (const { method, path } of entries)
    app[method as 'get'](path, (req, res) => void res.json({ value: path, params: req.params }))
  app.use((_req, res) => void res.json(null))
  app.use((_error: unknown, _req: unknown, res: express.Response, _next: unknown) => void res.json(null))
  server = http.createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  agent.destroy()
  server.close()
})

/** What Express finds for a path as it is written, which `fetch` would tidy up. */
const byExpress = (method: string, path: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo
    const asked = http.request({ port, host: '127.0.0.1', method, path, agent }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString() || 'null')))
    })
    asked.on('error', reject)
    asked.end()
  })

const words = [...new Set(entries.flatMap(({ path }) => path.split('/')))].filter((word) => !word.includes(':'))
const part = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...words) },
  { weight: 1, arbitrary: fc.constantFrom(...words).map((word) => word.toUpperCase()) },
  fc.constantFrom('x', 'x.svg', '%2F', '%C3%BC', '%zz', '%', '..', '.', 'a+b', ';', '0x12', ':x', '__proto__'),
)
/** Paths of the table with other parts in places, and paths of parts alone. */
const path = fc.oneof(
  fc
    .tuple(fc.constantFrom(...entries), fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, part)))
    .map(([entry, others]) =>
      entry.path
        .split('/')
        .map((own, i) => (i > 0 && others[i]) || (own.startsWith(':') ? 'held' : own))
        .join('/'),
    ),
  fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`),
)
const tail = fc.constantFrom('', '', '', '/', '?a=/v1', '?', '/?x', '//')

it('finds the route and the parameters that Express finds, or leaves the path to it', async () => {
  const found = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'), path, tail, async (method, start, end) => {
      const url = start + end
      const own = match({ method, url })
      if (!own) return
      if (own !== 'none') found.add(own.value)
      expect([url, own === 'none' ? null : own]).toEqual([url, await byExpress(method, url)])
    }),
    { numRuns: 2_000 },
  )
  expect(found.size).toBeGreaterThan(20)
})

it('finds every route by its own path, but those of mixed parts', () => {
  for (const { method, path: own, aliases = [] } of routes)
    for (const each of [own, ...aliases]) {
      const filled = each.replaceAll(/:\w+/g, 'held')
      const left = ['/image/:name.svg'].includes(each)
      const own = match({ method: method.toUpperCase(), url: filled })
      expect(own).toEqual(left ? null : expect.objectContaining({ value: each }))
    }
})

it.each(['/v1/names/', '//v1/names', 'http://host/v1/names', '*', '', '/v1//names', '/', '/a/x', '/none/%zz'])(
  'leaves %s to Express',
  (url) => {
    expect(match({ method: 'GET', url })).toBeNull()
  },
)
