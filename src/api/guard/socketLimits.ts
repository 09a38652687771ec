import {
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { Slots } from '../../push/slots.js'
import { messageOf, send } from '../http/answer.js'
import { ApiError, errorAnswer } from '../http/errors.js'
import { countedAddress } from '../limits/client.js'

const HEADER_LIMIT_BYTES = 16 * 1024
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

/** Nothing here looks at Host, and Node refuses without JSON. */
export const serverLimits = (keepAliveMs = KEEP_ALIVE_MS): ServerOptions => ({
  maxHeaderSize: HEADER_LIMIT_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: keepAliveMs,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false,
})

const TOO_LARGE = `The headers are larger than ${HEADER_LIMIT_BYTES} bytes.`
const FAULTS: Readonly<Record<string, ApiError>> = {
  HPE_HEADER_OVERFLOW: new ApiError('invalid_request', TOO_LARGE, { status: 431 }),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(
    'invalid_request',
    'The request took too long to arrive.',
    { status: 408 },
  ),
}
const NOT_DONE = 'The Expect header asks for something that is not done here.'
const EXPECTATION = new ApiError('invalid_request', NOT_DONE, { status: 417 })
const BAD_REQUEST = new ApiError('invalid_request', 'The request is not well-formed HTTP.')

export interface ConnectionLimits {
  maxConnections: number
  maxOfAddress: number
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
  const { maxConnections = MAX_CONNECTIONS, maxOfAddress = MAX_OF_ADDRESS } = limits
  const unused = new Set<Socket>()
  const places = new Slots({ perClient: maxOfAddress, total: maxConnections })
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const free = isProxy(address) ? () => {} : places.take(countedAddress(address))
    if (typeof free === 'string') return socket.destroy()
    unused.add(socket)
    socket.once('close', () => {
      unused.delete(socket)
      free()
      // Node closes the answer in turn alone: those behind it would keep their places
      for (const res of [...(answers.get(socket) ?? [])]) res.emit('close')
    })
  })
  server.prependListener('request', ({ socket }: IncomingMessage) => unused.delete(socket))
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = maxConnections
  server.timeout = IDLE_TIMEOUT_MS
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    socket.write(rawAnswer(FAULTS[error.code ?? ''] ?? BAD_REQUEST))
    // Node tells once that a request takes too long
    closeGently(socket)
  })
  server.on('checkExpectation', (_req, res) =>
    send(res, messageOf(errorAnswer(EXPECTATION)), ['connection', 'close']),
  )
  return () => {
    for (const socket of unused) socket.destroy()
  }
}

const underWay = new WeakMap<Socket, number>()
/** Answers that are not whole. */
const answers = new WeakMap<Socket, Set<ServerResponse>>()

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
  const open = answers.get(socket) ?? new Set()
  answers.set(socket, open.add(res))
  res.once('close', () => {
    open.delete(res)
    underWay.set(socket, underWay.get(socket)! - 1)
  })
  return true
}

/** Closes our half at once, and the rest when the other end had time to read. */
export function closeGently(socket: Socket): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** The answer to what is no request yet, as bytes of HTTP. */
function rawAnswer(error: ApiError): string {
  const { status, headers, text } = messageOf(errorAnswer(error))
  const fields = headers.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('')
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields}connection: close\r\n\r\n${text}`
}
