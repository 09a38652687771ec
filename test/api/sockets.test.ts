import { once } from 'node:events'
import { createServer, type Server, type ServerOptions } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ApiDeps, createApi } from '../../src/api/server.js'
import { useApi } from './support.js'

const WAIT = { timeout: 20_000, interval: 20 }

let server: Server

const world = useApi()
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** Serves the API with these limits. */
async function serve(
  deps: Pick<ApiDeps, 'maxConnections' | 'requestDeadlineMs'> = {},
  limits: ServerOptions = {},
): Promise<void> {
  const { pool } = world
  const common = {
    pool,
    chains: [],
    config: { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) },
    log: pino({ level: 'silent' }),
  }
  const api = createApi({ ...common, ...deps })
  server = createServer({ ...api.limits, ...limits }, api.listener)
  api.protect(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const NETWORKS = get('/v1/networks')

/** Opens a socket and writes to it. */
async function open(bytes: string) {
  const socket = net.connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  const seen = { text: '', isClosed: false }
  socket.on('close', () => {
    seen.isClosed = true
  })
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    seen.text += chunk
  })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(bytes)
  return { socket, seen }
}

const answersIn = (text: string, status = '200 OK') => text.split(`HTTP/1.1 ${status}`).length - 1
const connections = () =>
  new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

describe('connections', () => {
  it('are limited in number', async () => {
    await serve({ maxConnections: 5 })
    const idle = await Promise.all(Array.from({ length: 5 }, () => open(NETWORKS)))
    await vi.waitFor(
      () => expect(idle.every(({ seen }) => answersIn(seen.text) === 1)).toBe(true),
      WAIT,
    )
    const dropped = await open(NETWORKS)
    await vi.waitFor(() => expect(dropped.seen.isClosed).toBe(true), WAIT)
    expect(dropped.seen.text).toBe('')
  })
})

describe('a request without an end', () => {
  const HEAD = `GET /v1/networks HTTP/1.1\r\nhost: x\r\n`
  const ENDLESS = {
    headers: [`${HEAD}x: `, 'a'],
    'a body that is not read': [`${HEAD}content-length: 1000\r\n\r\n`, 'a'],
    'chunks that are not read': [`${HEAD}transfer-encoding: chunked\r\n\r\n`, '1\r\na\r\n'],
    'what would follow an upgrade': [
      `${HEAD}connection: upgrade\r\nupgrade: websocket\r\n\r\n`,
      'a',
    ],
  }

  it('keeps no connection open by leaving its side half-open', async () => {
    await serve({}, { headersTimeout: 300, requestTimeout: 400, connectionsCheckingInterval: 100 })
    const { port } = server.address() as AddressInfo
    const open = Object.entries(ENDLESS).map(([name, [head, more]]) => {
      const socket = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true })
      const seen = { name, text: '' }
      socket.on('data', (bytes) => {
        seen.text += bytes
      })
      socket.on('error', () => {})
      socket.write(head!)
      const drip = setInterval(() => socket.write(more!), 50)
      socket.on('close', () => clearInterval(drip))
      return { socket, seen }
    })
    await vi.waitFor(async () => expect(await connections()).toBe(open.length), WAIT)
    await vi.waitFor(async () => expect(await connections()).toBe(0), WAIT)
    for (const { socket, seen } of open) {
      expect(answersIn(seen.text, '408 Request Timeout'), seen.name).toBe(1)
      socket.destroy()
    }
  })
})

describe('a body that arrives too slowly', () => {
  it('gets 408 and the end of its socket', async () => {
    await serve({ requestDeadlineMs: 400 })
    const { socket, seen } = await open(
      'POST /v1/names HTTP/1.1\r\nhost: x\r\ncontent-length: 9000\r\n\r\n[',
    )
    const drip = setInterval(() => socket.write(' '), 50)
    await vi.waitFor(() => expect(seen.isClosed).toBe(true), WAIT)
    clearInterval(drip)
    expect(answersIn(seen.text, '408 Request Timeout')).toBe(1)
    expect(JSON.parse(seen.text.split('\r\n\r\n')[1]!)).toMatchObject({
      status: 408,
      error: 'invalid_request',
    })
  })
})

describe('a body that is too large', () => {
  it('is answered while it is being sent, and not read completely', async () => {
    await serve()
    const accepted = once(server, 'connection') as Promise<[net.Socket]>
    const { socket, seen } = await open(
      'POST /v1/names HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const piece = Buffer.alloc(1024 * 1024, ' ')
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')])
    for (let i = 0; i < 64; i++) socket.write(chunk)
    await vi.waitFor(() => expect(seen.isClosed).toBe(true), WAIT)
    expect(answersIn(seen.text, '413 Payload Too Large')).toBe(1)
    const [taken] = await accepted
    expect(taken.bytesRead).toBeLessThan(4 * piece.length)
  })
})

describe('the id of a request', () => {
  it('does not reveal the number of requests', async () => {
    await serve()
    const { seen } = await open(NETWORKS.repeat(2))
    await vi.waitFor(() => expect(answersIn(seen.text)).toBe(2), WAIT)
    const ids = [...seen.text.matchAll(/x-request-id: (\S+)/g)].map(([, id]) => id!)
    expect(ids[0]!.slice(0, 8)).not.toBe(ids[1]!.slice(0, 8))
  })
})
