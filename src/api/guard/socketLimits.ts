import {
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { type HttpMessage, sendResponse, toHttpMessage } from '../http/answer.js'
import { ApiError, errorAnswer } from '../http/errors.js'

const HEADER_LIMIT_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
/** Time from the first byte of a request to the last byte of its body. */
const REQUEST_TIMEOUT_MS = 20_000
const KEEP_ALIVE_MS = 65_000
const MAX_REQUESTS_PER_SOCKET = 100_000
/**
 * A connection whose response is pending is closed after this time without a byte in either direction. No handler takes
 * as long, except for those that set a longer timeout.
 */
const IDLE_TIMEOUT_MS = 30_000
/** Half of the open files that docs/run/operations.md asks for (`ulimit -n` of 20,000). */
const MAX_CONNECTIONS = 10_000
/**
 * Maximum number of requests of a connection that wait for their responses. Node parses all requests that arrive in one
 * read, some 1,600.
 */
const MAX_PIPELINED_REQUESTS = 16
/** Time for the last response to reach the client before its socket is destroyed. */
const LINGER_MS = 5_000

/**
 * Limits for Node's `createServer`. The Host header is not required: it is never read, and Node's own refusal of a
 * request without the header would not be JSON.
 */
export const serverLimits = (keepAliveMs = KEEP_ALIVE_MS): ServerOptions => ({
  maxHeaderSize: HEADER_LIMIT_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: keepAliveMs,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false,
})

const refusalMessage = (message: string, status?: 408 | 417 | 431) =>
  toHttpMessage(errorAnswer(new ApiError('invalid_request', message, status && { status })))

const EXPECTATION_REFUSAL = refusalMessage(
  'The Expect header asks for something that is not done here.',
  417,
)
const MALFORMED_REFUSAL = refusalMessage('The request is not well-formed HTTP.')
/** Refusals of requests by the code of Node's error. */
const REFUSAL_BY_ERROR_CODE: Readonly<Record<string, HttpMessage>> = {
  HPE_HEADER_OVERFLOW: refusalMessage(
    `The headers are larger than ${HEADER_LIMIT_BYTES} bytes.`,
    431,
  ),
  ERR_HTTP_REQUEST_TIMEOUT: refusalMessage('The request took too long to arrive.', 408),
}

/**
 * Sets the limits that `createServer` does not take, and answers malformed HTTP in JSON. A connection that sends many
 * requests without waiting for their responses is closed. A proxy has to limit the connections of one address.
 * @returns function that closes connections without a running request. Among them are connections that never had a
 * request, as browsers open in advance: Node counts such connections as busy, so a closing server would wait for ever
 */
export function applySocketLimits(server: Server, maxConnections = MAX_CONNECTIONS): () => void {
  /** Number of requests of each open connection that wait for their responses. */
  const waiting = new Map<Socket, number>()
  server.on('connection', (socket: Socket) => {
    waiting.set(socket, 0)
    socket.once('close', () => waiting.delete(socket))
  })
  const addWaiting = (socket: Socket, count: number): number => {
    const sum = (waiting.get(socket) ?? 0) + count
    if (waiting.has(socket)) waiting.set(socket, sum)
    return sum
  }
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req
    if (addWaiting(socket, 1) > MAX_PIPELINED_REQUESTS) {
      socket.destroy()
      // without this, Node would create an error with a stack for each request of the closed connection
      req.destroy()
    } else res.once('close', () => addWaiting(socket, -1))
  })
  // with a limit, Node silently drops the last headers, which a proxy has added. `checkRequestHeaders` limits their
  // number
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = maxConnections
  server.timeout = IDLE_TIMEOUT_MS
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    if (code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    socket.end(lastResponseText(REFUSAL_BY_ERROR_CODE[code] ?? MALFORMED_REFUSAL))
    // destroying the socket now would reset a connection with unread bytes before the answer arrives
    socket.pause()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(timer))
  })
  server.on('checkExpectation', (_req, res) =>
    sendResponse(res, EXPECTATION_REFUSAL, ['connection', 'close']),
  )
  return () => {
    for (const [socket, count] of waiting) if (count === 0) socket.destroy()
  }
}

/** Text of an HTTP/1.1 response after which the connection is closed. */
function lastResponseText({ status, headers, text }: HttpMessage): string {
  const fields = headers.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('')
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields}connection: close\r\n\r\n${text}`
}
