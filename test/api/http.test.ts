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

/** Sends a request with its path unchanged, which fetch would normalize. */
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
  it('are JSON for unknown routes, wrong methods and paths that can’t be decoded', async () => {
    for (const path of [
      '/nope',
      '/v1',
      '/v1/names/address',
      '/v2/events',
      '/v1/names/address//x',
      '/v1/clusters/id/',
    ])
      expectEnvelope(await raw('GET', path), 404, 'not_found')
    for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'])
      expectEnvelope(await raw(method, `/v1/names/address/${alice}`), 404, 'not_found')
    expectEnvelope(await raw('POST', '/v1/events'), 404, 'not_found')
    for (const path of ['/v1/names/address/%', '/v1/names/address/%zz', '/v1/clusters/name/%c3%28'])
      expectEnvelope(await raw('GET', path), 400, 'invalid_request')
    expectEnvelope(await raw('GET', `/v1/events?x=${'a'.repeat(5_000)}`), 400, 'invalid_request')
  })

  it('are none for paths in other cases, with a slash at their end, escapes, or the origin of the server', async () => {
    const paths = [
      `/V1/Names/Address/${alice}`,
      `/v1/names/address/${alice}/`,
      `/v1/names/address/%30${alice.slice(1)}`,
    ]
    for (const path of [...paths, `${world.url}${paths[0]}`]) {
      const reply = await raw('GET', path)
      expect(JSON.parse(reply.text), path).toMatchObject({ address: alice, clusterName: name })
    }
    expect((await raw('GET', `/image/${name}.svg`)).headers['content-type']).toBe('image/svg+xml')
    expectEnvelope(await raw('GET', '/%zz'), 400, 'invalid_request')
  })

  it('are JSON for what is no HTTP and for headers that are too large', async () => {
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
  it('are served as committed', async () => {
    for (const path of ['/openapi.json', '/openapi-v0.1.json']) {
      const committed = JSON.parse(
        readFileSync(new URL(`../../src/client/generated${path}`, import.meta.url), 'utf8'),
      )
      expect((await world.get(path)).body, path).toEqual(committed)
    }
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

  it('are read as JSON whatever their content type', async () => {
    const types = [
      'application/json',
      'text/plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'x',
      '',
    ]
    for (const type of [
      ...types,
      'application/json;charset=latin1',
      'application/json;charset=utf-16',
    ])
      expect((await post(asked, { 'content-type': type })).status, type).toBe(200)
    expect((await post(asked)).status).toBe(200)
    expect((await post(asked, { 'transfer-encoding': 'chunked' })).status).toBe(200)
    expect((await post(` \n${asked}\n`, { 'content-encoding': 'identity' })).status).toBe(200)
  })

  it('that are empty, broken, deep or compressed get 400, and large ones 413', async () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    const bodies = [
      undefined,
      '',
      ' ',
      '{',
      'nul',
      "{'a':1}",
      '[1,]',
      '\ufeff[]x',
      deep(33),
      deep(60_000),
    ]
    for (const body of bodies) expectEnvelope(await post(body), 400, 'invalid_request')
    expectEnvelope(await post(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])), 400, 'invalid_request')
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

  it('that are far too large are not read to their end', async () => {
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

  it('that are cut off don’t hold the server', async () => {
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
  it('let any site call the API', async () => {
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
    const { headers } = await raw('GET', '/v1/events')
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
    expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
    expect(headers['x-powered-by']).toBeUndefined()
    expect(headers.etag).toMatch(/^W\//)
  })

  it('of any API key are no reason to refuse, and HEAD is answered', async () => {
    for (const key of ['', 'undefined', 'x'.repeat(500)])
      expect(
        (await raw('GET', `/v1/names/address/${alice}`, undefined, { 'x-api-key': key })).status,
      ).toBe(200)
    const head = await raw('HEAD', `/v1/names/address/${alice}`)
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(Number(head.headers['content-length'])).toBeGreaterThan(50)
  })

  it('name each request, and the log has routes but never parameters', async () => {
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

describe('a database that is gone', () => {
  it('makes answers 503 until it is back', async () => {
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
      for (const reply of await Promise.all(requests)) {
        expect(reply).toMatchObject({ status: 503, body: { status: 503, error: 'unavailable' } })
        expect(reply.headers.get('retry-after')).toBeTruthy()
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
