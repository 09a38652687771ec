import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { PUBLIC_HEADERS } from './headers.js'

const HEADER_LIMIT_BYTES = 16 * 1024
const HEADER_LIMIT_COUNT = 100
const HEADERS_TIMEOUT_MS = 10_000
/** Time from the first byte of a request to the last of its body. */
const REQUEST_TIMEOUT_MS = 20_000
const KEEP_ALIVE_MS = 65_000
const MAX_REQUESTS_PER_SOCKET = 100_000

/** Options for `http.createServer`: sizes and timeouts. Nothing limits the rate of requests. */
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

/** Sets the limits that `createServer` does not take, and answers malformed HTTP in JSON. */
export function protectServer(server: Server): void {
  server.maxHeadersCount = HEADER_LIMIT_COUNT
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    const [status, reason, message] = STATUS_OF_FAULT[error.code ?? ''] ?? BAD_REQUEST
    socket.end(rawAnswer(status, reason, message))
  })
  server.on('checkExpectation', (_req: IncomingMessage, res: ServerResponse) => {
    const body = envelope(417, 'The Expect header asks for something that is not done here.')
    const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', Buffer.byteLength(body)]
    res.writeHead(417, [...PUBLIC_HEADERS, ...headers, 'connection', 'close'])
    res.end(body)
  })
}

const envelope = (status: number, message: string): string =>
  JSON.stringify({ status, error: 'invalid_request', message })

function rawAnswer(status: number, reason: string, message: string): string {
  const body = envelope(status, message)
  const headers = ['content-type: application/json; charset=utf-8', `content-length: ${Buffer.byteLength(body)}`]
  for (let i = 0; i < PUBLIC_HEADERS.length; i += 2) headers.push(`${PUBLIC_HEADERS[i]}: ${PUBLIC_HEADERS[i + 1]}`)
  return `HTTP/1.1 ${status} ${reason}\r\n${headers.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`
}
