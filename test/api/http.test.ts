import { readFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Postgres, startPostgres } from '../../src/testing/processes/postgres.js'
import { bid, freshName, logInto, randomAddress, randomHash, startApi, useApi } from './support.js'

const logged: string[] = []
const alice = randomAddress()
const name = freshName()

const world = useApi({ log: logInto(logged) })
beforeAll(() => world.append('mainnet', [bid({ from: alice, name })]))

interface Raw {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
}

/** Sends a request with its path unchanged. fetch would normalize it. */
function raw(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: http.OutgoingHttpHeaders = {},
): Promise<Raw> {
  const { hostname, port } = new URL(world.url)
  return new Promise((resolve, reject) => {
    const req = http.request({ hostname, port, method, path, headers, agent: false }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('end', () =>
        resolve({
          status: res.statusCode!,
          headers: res.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    req.on('error', reject)
    req.end(body)
  })
}

/** Writes bytes to a socket and returns what it receives until it closes. */
function onSocket(bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(world.url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = net.connect({ host: hostname, port: Number(port) }, () => socket.write(bytes))
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

const expectEnvelope = (reply: Raw, status: number, error: string) => {
  expect(reply.status, reply.text).toBe(status)
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(reply.text)).toMatchObject({
    status,
    error,
    message: expect.stringMatching(/\.$/),
  })
}

describe('errors', () => {
  it.each([
    '/nope',
    '/v1',
    '/v1/names/address',
    '/v2/events',
    '/v1/names/addresses/x',
    '/v1/clusters/id/',
  ])('are JSON for the unknown route %s', async (path) => {
    expectEnvelope(await raw('GET', path), 404, 'not_found')
  })

  it.each([
    ['PUT', `/v1/names/address/${alice}`],
    ['DELETE', `/v1/names/address/${alice}`],
    ['PATCH', `/v1/names/address/${alice}`],
    ['TRACE', `/v1/names/address/${alice}`],
    ['PROPFIND', `/v1/names/address/${alice}`],
    ['POST', '/v1/events'],
  ])('are JSON for the wrong method %s', async (method, path) => {
    expectEnvelope(await raw(method, path), 404, 'not_found')
  })

  it('the error for a wrong method names those that the path takes', async () => {
    const { body } = await world.get('/v1/names')
    expect(body.message).toBe(
      'There is no such route for GET, but for POST; /openapi.json lists them.',
    )
  })

  it.each([
    ['%', '/v1/names/address/%'],
    ['%zz', '/v1/names/address/%zz'],
    ['half of UTF-8', '/v1/clusters/name/%c3%28'],
    ['5,000 characters', `/v1/events?x=${'a'.repeat(5_000)}`],
    ['only an escape', '/%zz'],
  ])('are JSON for paths that can’t be decoded: %s', async (_, path) => {
    expectEnvelope(await raw('GET', path), 400, 'invalid_request')
  })

  it.each<[name: string, path: () => string]>([
    ['in other cases', () => `/V1/Names/Address/${alice}`],
    ['with a slash at their end', () => `/v1/names/address/${alice}/`],
    ['with doubled slashes', () => `//v1/names//address/${alice}`],
    ['with escapes', () => `/v1/names/address/%30${alice.slice(1)}`],
    ['with the origin of the server', () => `${world.url}/V1/Names/Address/${alice}`],
  ])('are not sent for paths %s', async (_, path) => {
    const reply = await raw('GET', path())
    expect(JSON.parse(reply.text)).toMatchObject({ address: alice, clusterName: name })
  })

  it('are not sent for images', async () => {
    expect((await raw('GET', `/image/${name}.svg`)).headers['content-type']).toBe('image/svg+xml')
  })

  it('are JSON for malformed HTTP and for headers that are too large', async () => {
    const fault = async (bytes: string, status: number) => {
      const answer = await onSocket(bytes)
      expect(answer.startsWith(`HTTP/1.1 ${status} `), answer).toBe(true)
      const [head, body] = answer.split('\r\n\r\n')
      expect(head).toContain('content-type: application/json; charset=utf-8')
      expect(head).toContain('access-control-allow-origin: *')
      expect(JSON.parse(body!)).toMatchObject({ status, error: 'invalid_request' })
    }
    await fault('NOT HTTP\r\n\r\n', 400)
    await fault(`GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`, 431)
    await fault(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431)
    await fault('POST /v1/names HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n', 400)
    await fault('GET / HTTP/1.1\r\nhost: x\r\nexpect: magic\r\nconnection: close\r\n\r\n', 417)
  })
})

describe('the OpenAPI documents and /', () => {
  it.each(['/openapi.json', '/openapi-v0.1.json'])('%s is served as committed', async (path) => {
    const committed = JSON.parse(
      readFileSync(new URL(`../../src/client/generated${path}`, import.meta.url), 'utf8'),
    )
    expect((await world.get(path)).body).toEqual(committed)
  })

  it('/ links to the document', async () => {
    expect((await world.get('/')).body).toMatchObject({
      service: 'clusterd',
      openapi: '/openapi.json',
    })
  })
})

describe('bodies', () => {
  const asked = JSON.stringify([{ name }])
  const post = (body: string | Buffer | undefined, headers?: http.OutgoingHttpHeaders) =>
    raw('POST', '/v1/names', body, headers)

  it.each([
    'application/json',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'x',
    '',
    'application/json;charset=latin1',
    'application/json;charset=utf-16',
  ])('are read as JSON with the content type "%s"', async (type) => {
    expect((await post(asked, { 'content-type': type })).status).toBe(200)
  })

  it('are read as JSON without a content type, in pieces, and with white space', async () => {
    expect((await post(asked)).status).toBe(200)
    expect((await post(asked, { 'transfer-encoding': 'chunked' })).status).toBe(200)
    expect((await post(` \n${asked}\n`, { 'content-encoding': 'identity' })).status).toBe(200)
  })

  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

  it.each<[name: string, body: string | Buffer | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['a space', ' '],
    ['an open bracket', '{'],
    ['half a word', 'nul'],
    ['in single quotes', "{'a':1}"],
    ['with a comma too many', '[1,]'],
    ['with text behind', '\ufeff[]x'],
    ['33 levels deep', deep(33)],
    ['60,000 levels deep', deep(60_000)],
    ['no UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])],
  ])('are refused when %s', async (_, body) => {
    expectEnvelope(await post(body), 400, 'invalid_request')
  })

  it('that are compressed get 400, and large ones 413', async () => {
    const large = 'The body is larger than 131072 bytes.'
    const refused = async (status: number, message: string, ...sent: Parameters<typeof post>) => {
      const answer = await post(...sent)
      expectEnvelope(answer, status, 'invalid_request')
      expect(JSON.parse(answer.text).message).toBe(message)
    }
    await refused(413, large, JSON.stringify([{ name: 'x'.repeat(300 * 1024) }]))
    await refused(413, large, Buffer.alloc(5 * 1024 * 1024, 32))
    await refused(413, large, Buffer.alloc(9 * 1024 * 1024, 32))
    await refused(413, large, Buffer.alloc(9 * 1024 * 1024, 32), { 'transfer-encoding': 'chunked' })
    await refused(400, 'The body is compressed: send it as it is.', gzipSync(asked), {
      'content-encoding': 'gzip',
    })
  })

  it('that are far too large are not read completely', async () => {
    const { hostname, port } = new URL(world.url)
    const sent = await new Promise<number>((resolve) => {
      const chunk = Buffer.alloc(64 * 1024, 32)
      const socket = net.connect({ host: hostname, port: Number(port) }, () => {
        socket.write(
          `POST /v1/names HTTP/1.1\r\nhost: x\r\ncontent-length: ${64 * 1024 * 1024}\r\n\r\n`,
        )
        const push = () => {
          while (
            !socket.destroyed &&
            socket.bytesWritten < 64 * 1024 * 1024 &&
            socket.write(chunk)
          );
        }
        socket.on('drain', push)
        push()
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(socket.bytesWritten))
    })
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  it('that are cut off do not block the server', async () => {
    const { hostname, port } = new URL(world.url)
    await new Promise<void>((resolve) => {
      const socket = net.connect({ host: hostname, port: Number(port) }, () => {
        socket.write('POST /v1/names HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n[', () =>
          socket.destroy(),
        )
      })
      socket.on('close', () => resolve())
    })
    expect((await post(asked)).status).toBe(200)
  })
})

describe('headers', () => {
  it('allow any site to call the API', async () => {
    const preflight = await raw('OPTIONS', '/v1/names', undefined, {
      'access-control-request-method': 'POST',
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers':
        'authorization, content-type, if-none-match, last-event-id, x-api-key, x-auth-key',
    })
    const asked =
      'sentry-trace, baggage, traceparent,x-datadog-trace-id, Idempotency-Key, x-auth-key'
    const other = await raw('OPTIONS', '/v1/clusters', undefined, {
      'access-control-request-method': 'PROPFIND',
      'access-control-request-headers': asked,
    })
    expect(other.headers).toMatchObject({
      'access-control-allow-headers': asked,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, PROPFIND',
      vary: 'access-control-request-method, access-control-request-headers',
    })
    for (const bad of ['a b', 'x-a, , x-b', 'x: y', ''])
      expect(
        (await raw('OPTIONS', '/', undefined, { 'access-control-request-headers': bad })).headers[
          'access-control-allow-headers'
        ],
        bad,
      ).toBe('authorization, content-type, if-none-match, last-event-id, x-api-key, x-auth-key')
    const { headers } = await raw('GET', '/v1/events')
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
    expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
    expect(headers['x-powered-by']).toBeUndefined()
    expect(headers.etag).toMatch(/^W\//)
  })

  it.each([
    ['empty', ''],
    ['undefined', 'undefined'],
    ['long', 'x'.repeat(500)],
  ])('with an API key that is %s do not refuse the request', async (_, key) => {
    const path = `/v1/names/address/${alice}`
    expect((await raw('GET', path, undefined, { 'x-api-key': key })).status).toBe(200)
  })

  it('are sent for HEAD', async () => {
    const head = await raw('HEAD', `/v1/names/address/${alice}`)
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(Number(head.headers['content-length'])).toBeGreaterThan(50)
  })

  it('have an id of the request, and the log has routes but never parameters', async () => {
    logged.length = 0
    const secret = 'secret-key-0123'
    const headers = { authorization: `Bearer ${secret}`, 'x-auth-key': secret, 'x-api-key': secret }
    const { headers: answered } = await raw(
      'GET',
      `/v1/names/address/${alice}?key=${secret}`,
      undefined,
      headers,
    )
    await raw('GET', `/nope/${secret}`, undefined, headers)
    await raw('POST', '/v1/names', `{"${secret}"`, headers)
    const text = logged.join('')
    expect(text).toContain(answered['x-request-id'])
    expect(text).toContain('/v1/names/address/:address')
    expect(text).not.toContain(secret)
    expect(text).not.toContain(alice)
  })
})

describe('behind a trusted proxy', () => {
  it('the proxy’s id and trace of a request are in the response and in the log', async () => {
    const lines: string[] = []
    const own = await startApi({ trustProxy: 1, log: logInto(lines) })
    try {
      const id = '7d1c6a4e9f0b4d4b8d6f1a2b3c4d5e6f'
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
      const headers = { 'x-request-id': id, traceparent: `00-${trace}-00f067aa0ba902b7-01` }
      for (const path of ['/v1/events', '/nowhere']) {
        lines.length = 0
        const answer = await own.request(path, { headers })
        expect(answer.headers.get('x-request-id')).toBe(id)
        expect(JSON.parse(lines.join(''))).toMatchObject({ id, trace, msg: 'request' })
      }
    } finally {
      await own.stop()
    }
  })
})

describe('an unavailable database', () => {
  it('gives 503 until it is back', async () => {
    const own = await startApi()
    let back: Postgres | undefined
    try {
      const { postgres } = own
      const dataDir = (await own.pool.query(`SELECT current_setting('data_directory') AS dir`))
        .rows[0].dir
      await own.get('/v1/events')
      await postgres.stop()
      const requests = [
        own.get(`/v1/names/address/${alice}`),
        own.get('/v1/events'),
        own.get(`/v1/names/register/tx/${randomHash()}`),
        own.post('/v1/names/register/check', [name]),
        own.post('/v1/names/register/evm', {
          network: '1',
          sender: alice,
          names: [{ name: freshName() }],
        }),
      ]
      for (const [i, reply] of (await Promise.all(requests)).entries()) {
        expect(reply, `request ${i}`).toMatchObject({
          status: 503,
          body: { status: 503, error: 'unavailable' },
        })
        expect(reply.headers.get('retry-after'), `request ${i}`).toBeTruthy()
      }
      expect((await own.get('/nope/nope')).status).toBe(404)
      back = await startPostgres({ dataDir, port: postgres.port })
      expect((await own.get('/v1/events')).status).toBe(200)
      const quote = { network: '1', sender: alice, names: [{ name: freshName() }] }
      expect((await own.post('/v1/names/register/evm', quote)).status).toBe(200)
    } finally {
      await back?.stop()
      await own.stop()
    }
  })
})
