import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HAPROXY, NGINX, type RunningProxy, startExample } from '../support/proxies.js'
import { type ApiWorld, bid, freshName, limitsOf, randomAddress, startApi } from './support.js'

/** What proxies do to requests and answers: docs/run/deploying.md, "Behind a proxy". */

const alice = randomAddress()
const name = freshName()
/** Units of an address, which do not refill during the test. */
const BURST = 40

let world: ApiWorld
beforeAll(async () => {
  world = await startApi({ trustProxy: ['loopback'], limits: limitsOf(BURST) })
  await world.append('mainnet', [bid({ from: alice, name })])
})
afterAll(() => world.stop())

/** nginx that compresses everything, joins paths with a doubled slash under /joined, and reports clients with ports. */
const nginxConfig = (upstream: string) => (port: number, folder: string) =>
  `
master_process off; pid ${folder}/pid; error_log stderr notice;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
  upstream api { server ${upstream}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / {
      proxy_pass http://api;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
    location /joined/ {
      proxy_pass http://api//;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
    location /ports/ {
      proxy_pass http://api/;
      proxy_set_header X-Forwarded-For "$http_x_forwarded_for:40000, $remote_addr:$remote_port";
    }
    location /standard/ {
      proxy_pass http://api/;
      proxy_set_header X-Forwarded-For "";
      proxy_set_header Forwarded 'for="[$http_x_forwarded_for]:40000", for="$remote_addr:$remote_port"';
    }
  }
}
`

/** HAProxy as in examples/deploy/topology, with compression and kept-alive connections. */
const haproxyConfig = (upstream: string) => (port: number) =>
  `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend clients
  bind 127.0.0.1:${port}
  option forwardfor
  http-request replace-path /joined/(.*) //\\1
  http-request set-header X-Forwarded-For "%[req.hdr(X-Forwarded-For)]:40000" if { path_beg /ports/ }
  http-request replace-path /ports/(.*) /\\1
  default_backend api
backend api
  http-reuse always
  compression algo gzip
  compression type application/json text/event-stream
  server one ${upstream}
`

const PROXIES = [
  { name: 'nginx', program: NGINX, configOf: nginxConfig },
  { name: 'HAProxy', program: HAPROXY, configOf: haproxyConfig },
]

describe.each(PROXIES)('behind $name', ({ name: kind, program, configOf }) => {
  if (!program.isInstalled) {
    it.skip(`is not tried: ${kind} is not installed here`, () => {})
    return
  }
  let proxy: RunningProxy
  beforeAll(async () => {
    proxy = await program.start(configOf(new URL(world.url).host))
  })
  afterAll(() => proxy.stop())

  let clients = 0
  /** A new client address, as a proxy in front of this one reports it. */
  const freshClient = () => `203.0.113.${++clients}`
  const get = (path: string, headers: http.OutgoingHttpHeaders = {}) =>
    new Promise<{ status: number; headers: http.IncomingHttpHeaders }>((resolve, reject) => {
      const asked = { 'x-forwarded-for': freshClient(), ...headers }
      const request = http.get(`${proxy.url}${path}`, { headers: asked, agent: false }, (res) => {
        res.resume()
        res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers }))
      })
      request.on('error', reject)
    })

  it('the entity tag of a compressed response is recognized', async () => {
    const path = `/v1/names/address/${alice}`
    const first = await get(path, { 'accept-encoding': 'gzip' })
    expect(first).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } })
    const { etag } = first.headers
    expect(etag).toBeDefined()
    const again = { 'if-none-match': etag, 'accept-encoding': 'gzip' }
    expect((await get(path, again)).status).toBe(304)
  })

  it('a path with a doubled slash is found', async () => {
    expect((await get(`/joined/v1/names/address/${alice}`)).status).toBe(200)
    expect((await get('/joined/openapi.json')).status).toBe(200)
  })

  const forms = kind === 'nginx' ? ['', '/ports', '/standard'] : ['', '/ports']
  it.each(forms)('each client is counted by its own address: %s', async (form) => {
    const path = `${form}/v1/names/address/${alice}`
    const [one, other] =
      form === '/standard' ? ['2001:db8:1::1', '2001:db8:2::1'] : [freshClient(), freshClient()]
    let status = 200
    for (let i = 0; i < 2 * BURST && status === 200; i++)
      status = (await get(path, { 'x-forwarded-for': one })).status
    expect(status).toBe(429)
    expect((await get(path, { 'x-forwarded-for': other })).status).toBe(200)
  })

  it('refusals of one client close no connection of the proxy, which other clients use', async () => {
    const path = `/v1/names/address/${alice}`
    const refused = { 'x-forwarded-for': freshClient() }
    for (let i = 0; i <= BURST; i++) await get(path, refused)
    const opened = await connectionsOpened(async () => {
      for (let i = 0; i < 20; i++) expect((await get(path, refused)).status).toBe(429)
    })
    // a proxy may close an idle connection
    expect(opened).toBeLessThan(5)
  })

  it('a stream arrives at once, and uncompressed where the proxy respects no-transform', async () => {
    const headers = { 'accept-encoding': 'gzip', 'x-forwarded-for': freshClient() }
    const request = http.get(`${proxy.url}/v1/events/stream`, { headers, agent: false })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    expect(response.headers['cache-control']).toBe('no-store, no-transform')
    const [bytes] = (await once(response, 'data')) as [Buffer]
    expect(bytes.length).toBeGreaterThan(0)
    request.destroy()
  })

  it('a preflight allows the requested headers and methods', async () => {
    const answer = await fetch(`${proxy.url}/v1/clusters`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'baggage, sentry-trace',
      },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-headers')).toBe('baggage, sentry-trace')
  })

  it('an escaped slash does not split a part of a path', async () => {
    expect((await get('/v1/clusters/name/a%2Fb')).status).not.toBe(502)
  })
})

/** Number of connections that servers of this process accept while `work` runs: the proxy's to the API. */
async function connectionsOpened(work: () => Promise<void>): Promise<number> {
  let count = 0
  const add = (): void => {
    count += 1
  }
  subscribe('net.server.socket', add)
  try {
    await work()
  } finally {
    unsubscribe('net.server.socket', add)
  }
  return count
}

describe('a connection without a request', () => {
  /** Time for which the server keeps an idle connection open, ms. */
  async function keptMs(url: string, limitMs: number): Promise<number> {
    const { hostname, port } = new URL(url)
    const socket = net.connect({ host: hostname, port: Number(port) })
    socket.write('GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    const startedMs = performance.now()
    const timer = setTimeout(() => socket.destroy(), limitMs)
    socket.on('error', () => {})
    await once(socket, 'close')
    clearTimeout(timer)
    return performance.now() - startedMs
  }

  it('is closed after the configured time', async () => {
    const brief = await startApi({ keepAliveMs: 100 })
    try {
      expect(await keptMs(brief.url, 10_000)).toBeLessThan(8_000)
    } finally {
      await brief.stop()
    }
  })

  it('stays open for longer by default', async () => {
    expect(await keptMs(world.url, 8_500)).toBeGreaterThan(8_000)
  })
})

describe.each(PROXIES)('$name with its example', ({ name: kind, program }) => {
  if (!program.isInstalled) {
    it.skip(`is not tried: ${kind} is not installed here`, () => {})
    return
  }

  it('gives a request an id of its own, whatever id the client sends', async () => {
    const proxy = await startExample(program, Number(new URL(world.url).port))
    try {
      const headers = { 'x-request-id': 'of-the-client' }
      const answer = await fetch(`${proxy.url}/v1/names/address/${alice}`, { headers })
      expect(answer.headers.get('x-request-id')).toMatch(/^[\da-f-]{32,36}$/)
    } finally {
      await proxy.stop()
    }
  })
})

describe('HAProxy with the configuration of examples/deploy/topology', () => {
  if (!HAPROXY.isInstalled) {
    it.skip('is not tried: HAProxy is not installed here', () => {})
    return
  }
  let proxy: RunningProxy
  beforeAll(async () => {
    proxy = await startExample(HAPROXY, Number(new URL(world.url).port))
  })
  afterAll(() => proxy.stop())

  it.each([
    ['a refusal', 'GET /v1/networks', '429 Too Many Requests'],
    ['a preflight beyond the limit', 'OPTIONS /v1/networks', '204 No Content'],
  ])('%s is the last answer of the client’s connection', async (_, request, last) => {
    const socket = net.connect({ host: '127.0.0.1', port: proxy.port })
    let text = ''
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString()
    })
    // all clients of the proxy have the address of this machine
    socket.write(`${request} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(3 * BURST))
    await once(socket, 'close')
    const answers = text.split('HTTP/1.1 ').slice(1)
    expect(answers.length).toBeLessThanOrEqual(BURST + 1)
    expect(answers.at(-1)).toContain(last)
    expect(answers.at(-1)).toMatch(/^connection: close\r$/m)
  })
})
