import net from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { routes } from '../../src/api/routes.js'
import { type Member, memberOf } from './members.js'
import { type ApiWorld, bid, randomHash, secondApi, startApi } from './support.js'

/** The same API twice: with its own matching of routes, and by Express alone. */
let own: ApiWorld
let byExpress: Awaited<ReturnType<typeof secondApi>>
let alice: Member
let tx: `0x${string}`

beforeAll(async () => {
  own = await startApi({ configs: () => [] })
  byExpress = await secondApi(own, {})
  // streams end after what they have
  for (const api of [own, byExpress]) api.release()
  alice = await memberOf(own)
  tx = randomHash()
  await own.append('mainnet', [bid({ from: alice.address, name: 'held', tx })])
})
afterAll(async () => {
  await byExpress?.stop()
  await own?.stop()
})

/** All bytes of an answer but those of its time and id. */
async function answered(url: string, head: string, { body, key }: { body: string; key: string }): Promise<string> {
  const { port, hostname } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  const fields = ['host: localhost', 'connection: close']
  if (body) fields.push(`content-length: ${Buffer.byteLength(body)}`)
  if (key) fields.push(`authorization: ${key}`)
  socket.write(`${head} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
    .toString()
    .replace(/^x-request-id: .*$/m, 'x-request-id')
    .replace(/^date: .*$/im, 'date')
}

const values: Record<string, () => string> = {
  address: () => alice.address,
  name: () => 'held',
  tx: () => tx,
  network: () => '1',
}
const filled = (path: string): string => path.replaceAll(/:(\w+)/g, (_, name: string) => values[name]?.() ?? 'held')

/** Answers that no two moments have alike. */
const OF_THE_MOMENT = ['/v1/auth/message', '/v0.1/auth/message', '/v1/generate']

it.each(routes.flatMap(({ method, path, aliases = [] }) => [path, ...aliases].map((each) => [method, each] as const)))(
  'answers %s %s byte for byte as Express would',
  async (method, path) => {
    if (OF_THE_MOMENT.some((start) => path.startsWith(start))) return
    const verb = method.toUpperCase()
    const bodies = method === 'get' ? [''] : ['', '[]', '{', '["x"]', '{"a":1}', `["${alice.address}"]`]
    const urls = [
      filled(path),
      `${filled(path)}?testnet=true`,
      `${filled(path)}?limit=0`,
      path.replaceAll(':', '%F0%9F%92%A9'),
    ]
    for (const key of method === 'get' ? ['', alice.headers.authorization!] : [''])
      for (const url of urls)
        for (const body of bodies) {
          const answer = await answered(own.url, `${verb} ${url}`, { body, key })
          expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /)
          expect(answer).toBe(await answered(byExpress.url, `${verb} ${url}`, { body, key }))
        }
  },
)

it.each([
  ...['GET /', 'GET /openapi.json', 'HEAD /openapi.json', 'GET /nothing', 'GET /nothing/at/all?x=1', 'DELETE /v1'],
  ...['PUT /v1/names', 'OPTIONS /v1/names', 'PROPFIND /v1/names', 'GET /v0.1/name/', 'GET /v0.1/name/a/b'],
  ...['GET /V1/Names/Register/check/', 'GET /image/held.svg', 'GET /held', 'GET /assets/a/b', 'GET /%zz', 'GET //'],
])('answers %s byte for byte as Express would', async (head) => {
  const sent = { body: '', key: '' }
  expect(await answered(own.url, head, sent)).toBe(await answered(byExpress.url, head, sent))
})
