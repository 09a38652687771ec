import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { declareRoute } from '../../src/api/http/route.js'
import { okResponses, z } from '../../src/api/http/schema.js'
import { memberOf } from './members.js'
import { limitsOf, randomAddress, randomHash, useApi } from './support.js'

const failing = declareRoute.get('/v1/failing', {
  refusedSample: null,
  costliestSample: {},
  summary: 'Fails',
  responses: okResponses('Nothing', { nothing: z.string() }),
  async handle() {
    throw new TypeError('a mistake')
  },
})

const BURST = 200
const world = useApi({ limits: limitsOf(BURST), trustProxy: 1, moreRoutes: [failing] })

/** Sends a request and returns the status and the `Cache-Control` of its answer. */
async function ask(
  path: string,
  { method = 'GET', headers = {}, body = '' }: http.RequestOptions & { body?: string } = {},
): Promise<[number | undefined, string | undefined]> {
  const { hostname, port } = new URL(world.url)
  const req = http.request({ hostname, port, method, path, headers, agent: false }).end(body)
  const [res] = (await once(req, 'response')) as [http.IncomingMessage]
  res.destroy()
  return [res.statusCode, res.headers['cache-control']]
}

describe('an answer without a cache rule of its own is checked before each use', () => {
  const browser = { accept: 'text/html' }
  const origin = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  it.each<[what: string, status: number, path: string, init?: Parameters<typeof ask>[1]]>([
    ['a name of an address without one', 404, `/v1/names/address/${randomAddress()}`],
    ['a look-up of v0.1', 200, `/v0.1/name/${randomAddress()}`],
    ['a bulk look-up', 200, '/v1/names', { method: 'POST', body: '[{"name":"nobody"}]' }],
    ['an event that is not there', 404, '/v1/events/m-1-999/proof'],
    ['an event that is not there, with HEAD', 404, '/v1/events/m-1-999/proof', { method: 'HEAD' }],
    ['a bundle that the log does not have', 404, '/v1/log/mainnet/1/tile/entries/999'],
    ['the deprecated look-up of no path', 200, '/v0.1/name/a/b'],
    ['an unknown path', 404, '/no/such/path'],
    ['a file that is no part of the page', 404, '/assets/none/none.js'],
    ['a guide that does not exist', 404, '/docs/guides/none.md'],
    ['a document', 200, '/openapi.json'],
    ['the index', 200, '/'],
    ['a path that can not be decoded', 400, '/v1/%zz'],
    ['a wrong body', 400, '/v1/names', { method: 'POST', body: '{' }],
    ['a body that is too large', 413, '/v1/names', { method: 'POST', body: ' '.repeat(140_000) }],
    ['too many headers', 431, '/v1/networks', { headers: { authorization: 'x'.repeat(5_000) } }],
    ['an expectation', 417, '/v1/networks', { headers: { expect: 'magic' } }],
    ['a fault of ours', 500, '/v1/failing'],
    ['a chain that is away', 503, `/v1/names/register/tx/${randomHash()}`],
    ['a preflight', 204, '/v1/names', { method: 'OPTIONS', headers: origin }],
  ])('%s', async (_, status, path, init) => {
    expect(await ask(path, init)).toEqual([status, 'no-cache'])
  })

  it('also a refusal by the rate limit, and one of malformed HTTP', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.99' }
    const all = await Promise.all(
      Array.from({ length: BURST + 1 }, () => ask('/v1/networks', { headers })),
    )
    expect(all).toContainEqual([429, 'no-cache'])
    const socket = net.connect(Number(new URL(world.url).port), '127.0.0.1')
    socket.write('NOT HTTP\r\n\r\n')
    const [bytes] = await once(socket, 'data')
    expect(String(bytes)).toMatch(/^HTTP\/1\.1 400 [\s\S]*cache-control: no-cache\r\n/)
    socket.destroy()
  })

  it('and what depends on a key is not stored', async () => {
    for (const path of ['/', '/nobody', '/docs', '/no/such/page'])
      expect((await ask(path, { headers: browser }))[1], path).toMatch(/^no-(cache|store)$/)
    expect((await ask('/v1/keys'))[1]).toBe('private, no-store')
    const { headers } = await memberOf(world)
    expect((await ask('/v1/clusters/name/nobody', { headers }))[1]).toBe('private, no-store')
  })
})
