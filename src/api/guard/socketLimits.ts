import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Places } from '../../push/places.js'
import { ApiError } from '../http/errors.js'
import { PUBLIC_HEADERS } from '../http/headers.js'
import { countedAddress } from '../limits/client.js'

const HEADER_LIMIT_BYTES = 16 * 1024
const HEADER_LIMIT_COUNT = 100
const HEADERS_TIMEOUT_MS = 10_000
/** Time from the first byte of a request to the last of its body. */
const REQUEST_TIMEOUT_MS = 20_000
const KEEP_ALIVE_MS = 65_000
const MAX_REQUESTS_PER_SOCKET = 100_000
/** Time without a byte in either direction while an answer is under way: longer than any handler works. */
const IDLE_TIMEOUT_MS = 30_000
/** Requests of a socket under way at once: browsers and common clients send the next after an answer. */
const MAX_PIPELINED = 8
/** Half of what files and sockets a process is usually given. */
const MAX_CONNECTIONS = 10_000
/** Connections of one address: a host alone can't take all, and a frontend waits for up to 500 statuses. */
const MAX_OF_ADDRESS = 2_000
/** Time for the answers of a socket that is closed to reach its other end. */
const LINGER_MS = 5_000

/** Options for `http.createServer`: sizes and timeouts. The Host header is checked by `headFault`, in JSON. */
export const SERVER_LIMITS: ServerOptions = {
  maxHeaderSize: HEADER_LIMIT_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false,
}

const TOO_LARGE = `The headers are larger than ${HEADER_LIMIT_BYTES} bytes.`
const STATUS_OF_FAULT: Record<string, [status: number, reason: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', TOO_LARGE],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request took too long to arrive.'],
}
const BAD_REQUEST: [number, string, string] = [400, 'Bad Request', 'The request is not well-formed HTTP.']

export interface ConnectionLimits {
  maxConnections: number
  maxOfAddress: number
  /** Time without a byte while an answer is under way. */
  idleMs: number
}

/**
 * Sets the limits that `createServer` does not take, and answers malformed HTTP in JSON.
 * @param isProxy tells whether an address is a proxy's that is trusted, which connects for others
 * @returns closes the connections that have asked for nothing yet, as a browser opens them ahead: Node counts them as
 *   busy, and a server that closes waits for them without end
 */
export function protectServer(
  server: Server,
  limits: Partial<ConnectionLimits>,
  isProxy: (address: string) => boolean,
): () => void {
  const { maxConnections = MAX_CONNECTIONS, maxOfAddress = MAX_OF_ADDRESS, idleMs = IDLE_TIMEOUT_MS } = limits
  const unused = new Set<Socket>()
  const places = new Places({ perClient: maxOfAddress, total: maxConnections })
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const free = isProxy(address) ? () => {} : places.take(countedAddress(address))
    if (typeof free === 'string') return socket.destroy()
    unused.add(socket)
    socket.once('close', () => {
      unused.delete(socket)
      free()
    })
  })
  server.prependListener('request', ({ socket }: IncomingMessage) => unused.delete(socket))
  // a connection more than is taken, since Node drops the rest without a word
  server.maxHeadersCount = HEADER_LIMIT_COUNT + 1
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = maxConnections
  server.timeout = idleMs
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    const [status, reason, message] = STATUS_OF_FAULT[error.code ?? ''] ?? BAD_REQUEST
    socket.write(rawAnswer(status, reason, message))
    // Node tells once that a request takes too long: who goes on to send would keep the connection
    closeGently(socket)
  })
  server.on('checkExpectation', (_req: IncomingMessage, res: ServerResponse) => {
    const body = envelope(417, 'The Expect header asks for something that is not done here.')
    const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', Buffer.byteLength(body)]
    res.writeHead(417, [...PUBLIC_HEADERS, ...headers, 'connection', 'close'])
    res.end(body)
  })
  return () => {
    for (const socket of unused) socket.destroy()
  }
}

const underWay = new WeakMap<Socket, number>()

/**
 * Bounds pipelined requests, which Node parses 64 KiB at a time before any back-pressure: the last of as many as are
 * taken ends its socket.
 * @returns whether the request is to be served
 */
export function isServed({ socket }: IncomingMessage, res: ServerResponse): boolean {
  const count = (underWay.get(socket) ?? 0) + 1
  if (count > MAX_PIPELINED) {
    socket.pause()
    return false
  }
  if (count === MAX_PIPELINED) res.shouldKeepAlive = false
  underWay.set(socket, count === MAX_PIPELINED ? Number.POSITIVE_INFINITY : count)
  res.once('close', () => underWay.set(socket, underWay.get(socket)! - 1))
  return true
}

/** Closes our half at once, and the rest when the other end had time to read. */
export function closeGently(socket: Socket): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** Fault of a request's head that Node leaves to us: more than 100 headers, or not one Host (RFC 9112, 3.2). */
export function headFault({ rawHeaders, httpVersion }: IncomingMessage): ApiError | null {
  if (rawHeaders.length > 2 * HEADER_LIMIT_COUNT)
    return new ApiError('invalid_request', `There are more than ${HEADER_LIMIT_COUNT} headers.`, { status: 431 })
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.toLowerCase() === 'host') hosts++
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return null
  return new ApiError('invalid_request', 'A request has one Host header.')
}

const envelope = (status: number, message: string): string =>
  JSON.stringify({ status, error: 'invalid_request', message })

function rawAnswer(status: number, reason: string, message: string): string {
  const body = envelope(status, message)
  const headers = ['content-type: application/json; charset=utf-8', `content-length: ${Buffer.byteLength(body)}`]
  for (let i = 0; i < PUBLIC_HEADERS.length; i += 2) headers.push(`${PUBLIC_HEADERS[i]}: ${PUBLIC_HEADERS[i + 1]}`)
  return `HTTP/1.1 ${status} ${reason}\r\n${headers.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`
}
