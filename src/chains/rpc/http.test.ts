import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bodyOf, serveInTest } from '../../../test/support/httpServer.js'
import { ANSWER_TOO_LARGE_ERROR_CODE, createJsonHttpClient } from './http.js'

const LIMIT_MS = 5_000
/** Pause between two polls of an idle relayer. */
const PAUSE_MS = 5_000

const serving = (
  answer: (response: ServerResponse, request: IncomingMessage, body: string) => void,
) => serveInTest(async (request, response) => answer(response, request, await bodyOf(request)))

describe('the client of JSON-RPC nodes', () => {
  it('posts to path and query with credentials, and returns the answer with status and headers', async () => {
    const url = await serving((response, { method, url: path, headers }, body) => {
      response.setHeader('x-node', 'one')
      response.end(
        JSON.stringify({
          method,
          path,
          authorization: headers.authorization,
          body: JSON.parse(body),
        }),
      )
    })
    const post = createJsonHttpClient(`${url.replace('//', '//ann:s%20e@')}/v2/key?a=b`)
    const { status, headers, data } = await post({ id: 1 }, LIMIT_MS)
    expect([status, headers.get('x-node'), headers.get('x-other')]).toEqual([200, 'one', null])
    const authorization = `Basic ${Buffer.from('ann:s e').toString('base64')}`
    expect(data).toEqual({ method: 'POST', path: '/v2/key?a=b', authorization, body: { id: 1 } })
  })

  it('decompresses what a node compresses', async () => {
    const url = await serving((response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(JSON.stringify({ result: 'ä'.repeat(100_000) })))
    })
    expect((await createJsonHttpClient(url)({}, LIMIT_MS)).data).toEqual({
      result: 'ä'.repeat(100_000),
    })
  })

  const TEXT = Buffer.from('{"result":"0x1"}')
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['identity', TEXT],
    ['Identity', TEXT],
  ])('reads what a node sends with `content-encoding: %s` (%#)', async (encoding, body) => {
    const url = await serving((response) => {
      response.setHeader('content-encoding', encoding)
      response.end(body)
    })
    expect((await createJsonHttpClient(url)({}, LIMIT_MS)).data).toEqual({ result: '0x1' })
  })

  it.each([
    ['sends nothing', () => {}],
    ['sends a head and no body', (response: ServerResponse) => void response.flushHeaders()],
    ['stops in the middle', (response: ServerResponse) => void response.write('{"result":')],
  ])('does not wait for a node that %s', async (_, answer) => {
    const post = createJsonHttpClient(await serving(answer))
    await expect(post({}, 200)).rejects.toThrow('no answer within 200 ms')
  })

  it('refuses an answer that is too large, compressed or not', async () => {
    const large = JSON.stringify({ result: 'x'.repeat(11 * 2 ** 20) })
    const plain = await serving((response) => void response.end(large))
    const packed = await serving((response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(large))
    })
    for (const url of [plain, packed])
      await expect(createJsonHttpClient(url)({}, LIMIT_MS)).rejects.toMatchObject({
        code: ANSWER_TOO_LARGE_ERROR_CODE,
      })
  })

  it('gives a JSON-RPC error whatever the status, and otherwise the status with its headers', async () => {
    const error = { code: -32_000, message: 'no' }
    const url = await serving(
      (response) => void response.writeHead(500).end(JSON.stringify({ error })),
    )
    expect(await createJsonHttpClient(url)({}, LIMIT_MS)).toMatchObject({
      status: 500,
      data: { error },
    })
    const busy = await serving(
      (response) => void response.writeHead(429, { 'retry-after': '7' }).end('slow down'),
    )
    const failure = await createJsonHttpClient(busy)({}, LIMIT_MS).catch(
      (thrown: unknown) => thrown,
    )
    expect(failure).toMatchObject({ status: 429, details: 'slow down' })
    expect((failure as { headers: Headers }).headers.get('retry-after')).toBe('7')
  })

  it.each([
    [60_000, 1],
    [2_000, 2],
  ])(
    'keeps a connection over a pause of 5 s where the server keeps it %i ms: %i connections',
    async (keptMs, connections) => {
      const sockets: Socket[] = []
      const server = createServer((request, response) => {
        request.resume()
        response.end('{}')
      })
      server.keepAliveTimeout = keptMs
      server.on('connection', (socket) => sockets.push(socket))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close().closeAllConnections())
      const { port } = server.address() as AddressInfo
      const post = createJsonHttpClient(`http://127.0.0.1:${port}`)
      await post({}, LIMIT_MS)
      await sleep(PAUSE_MS)
      await post({}, LIMIT_MS)
      expect(sockets.length).toBe(connections)
    },
  )

  it('asks again over a new connection where all that were kept are closed', async () => {
    const seen = new Set<Socket>()
    const url = await serving((response, { socket }) => {
      if (seen.has(socket)) socket.resetAndDestroy()
      else setTimeout(() => response.end('{"result":1}'), 20)
      seen.add(socket)
    })
    const post = createJsonHttpClient(url)
    await Promise.all([post({}, LIMIT_MS), post({}, LIMIT_MS)])
    expect(seen.size).toBe(2)
    expect((await post({}, LIMIT_MS)).data).toEqual({ result: 1 })
  })

  it('asks again where a kept-alive connection is closed during the request', async () => {
    const sockets: Socket[] = []
    let asked = 0
    const url = await serving((response, { socket }) => {
      asked += 1
      sockets.push(socket)
      if (asked === 2) socket.resetAndDestroy()
      else response.end('{"result":1}')
    })
    const post = createJsonHttpClient(url)
    await post({}, LIMIT_MS)
    expect((await post({}, LIMIT_MS)).data).toEqual({ result: 1 })
    expect(sockets[1]).toBe(sockets[0])
    expect(sockets[2]).not.toBe(sockets[0])
  })

  it('fails where a new connection is closed, or cut in the middle', async () => {
    const closed = await serving((_, { socket }) => void socket.resetAndDestroy())
    await expect(createJsonHttpClient(closed)({}, LIMIT_MS)).rejects.toMatchObject({
      code: 'ECONNRESET',
    })
    const cut = await serving((response, { socket }) => {
      response.writeHead(200, { 'content-length': 100 }).write('{')
      setTimeout(() => socket.destroy(), 20)
    })
    await expect(createJsonHttpClient(cut)({}, LIMIT_MS)).rejects.toThrow()
  })
})
