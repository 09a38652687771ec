import type { IncomingMessage, Server, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { PUBLIC_HEADERS } from '../http/headers.js'

const HEADER_LIMIT_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
/** Time from the first byte of a request to the last of its body. */
const REQUEST_TIMEOUT_MS = 20_000
const KEEP_ALIVE_MS = 65_000
/** Time without a byte in either direction while an answer is under way: longer than any handler works. */
const IDLE_TIMEOUT_MS = 30_000
/** Half of what files and sockets a process is usually given. */
const MAX_CONNECTIONS = 10_000
/** Time for the answers of a socket that is closed to reach its other end. */
const LINGER_MS = 5_000

/** Options for `http.createServer`: sizes and timeouts. */
export const SERVER_LIMITS: ServerOptions = {
  maxHeaderSize: HEADER_LIMIT_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: 2_000,
}

const STATUS_OF_FAULT: Record<string, [status: number, reason: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    `The headers are larger than ${HEADER_LIMIT_BYTES} bytes.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request took too long to arrive.'],
}
const BAD_REQUEST: [number, string, string] = [400, 'Bad Request', 'The request is not well-formed HTTP.']

/** Node closes a connection at this one; a browser or a proxy opens the next. */
const MAX_REQUESTS_OF_SOCKET = 1_000

/**
 * Sets the limits that `createServer` does not take, and answers malformed HTTP in JSON.
 * @returns closes the connections that have asked for nothing yet, as a browser opens them ahead: Node counts them as
 *   busy, and a server that closes waits for them without end
 */
export function protectServer(server: Server): () => void {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.prependListener('request', ({ socket }: IncomingMessage) => unused.delete(socket))
  server.maxConnections = MAX_CONNECTIONS
  // all lines of a header count, so that none behind a thousand others is lost; 16 KiB bound them
  server.maxHeadersCount = 0
  // requests that wait for their answers on one connection are bounded, too
  server.maxRequestsPerSocket = MAX_REQUESTS_OF_SOCKET
  server.timeout = IDLE_TIMEOUT_MS
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    const [status, reason, message] = STATUS_OF_FAULT[error.code ?? ''] ?? BAD_REQUEST
    socket.write(rawAnswer(status, reason, message))
    // Node tells once that a request takes too long: who goes on to send would keep the connection
    closeGently(socket)
  })
  return () => {
    for (const socket of unused) socket.destroy()
  }
}

/** Closes our half at once, and the rest when the other end had time to read. */
export function closeGently(socket: Socket): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

function rawAnswer(status: number, reason: string, message: string): string {
  const body = JSON.stringify({ status, error: 'invalid_request', message })
  const headers = ['content-type: application/json; charset=utf-8', `content-length: ${Buffer.byteLength(body)}`]
  for (let i = 0; i < PUBLIC_HEADERS.length; i += 2) headers.push(`${PUBLIC_HEADERS[i]}: ${PUBLIC_HEADERS[i + 1]}`)
  return `HTTP/1.1 ${status} ${reason}\r\n${headers.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`
}
