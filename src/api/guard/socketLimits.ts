import {
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { sendResponse, toHttpMessage } from '../http/answer.js'
import { ApiError, errorAnswer } from '../http/errors.js'
import type { HttpExchange } from '../serving/exchange.js'

const HEADER_LIMIT_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
/** Time from the first byte of a request to the last byte of its body. */
const REQUEST_TIMEOUT_MS = 20_000
const KEEP_ALIVE_MS = 65_000
const MAX_REQUESTS_PER_SOCKET = 100_000
/** Time without a byte in either direction while a response is pending: longer than any handler takes. */
const IDLE_TIMEOUT_MS = 30_000
/** Half of the file descriptors that a process usually gets. */
const MAX_CONNECTIONS = 10_000
/** Time for the last response to reach the client before its socket is destroyed. */
const LINGER_MS = 5_000

/**
 * Chunks (parts) allowed in a chunked body: 256, and one more for every 32 bytes. Handling a part costs as much as some
 * hundred bytes.
 */
const MAX_SMALL_PARTS = 256
const BYTES_PER_PART = 32

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

/**
 * Sets the limits that `createServer` does not take, and answers malformed HTTP in JSON. A proxy has to limit
 * connections of one address and pipelined requests.
 * @returns function that closes connections without a request yet, as browsers open them in advance. Node counts them
 * as busy, and a closing server would wait for them for ever
 */
export function applySocketLimits(server: Server, maxConnections = MAX_CONNECTIONS): () => void {
  const unused = new Set<Socket>()
  const newest = new WeakMap<Socket, Asked>()
  server.on('connection', (socket: Socket) => {
    stopBehindLast(socket)
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    unused.delete(req.socket)
    if (newest.get(req.socket)?.res.writableFinished === false) pipelined.add(req.socket)
    newest.set(req.socket, { req, res })
    if (req.headers['transfer-encoding'] !== undefined) boundParts({ req, res })
  })
  // with a limit Node drops the last headers in silence, which are a proxy's; `checkRequestHeaders` counts them
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = maxConnections
  server.timeout = IDLE_TIMEOUT_MS
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    // after the last request of a connection the parser skips bytes, and reports them as malformed HTTP
    if (ended.has(socket)) return
    const refuse = () => {
      if (socket.writable) socket.write(rawAnswer(FAULTS[error.code ?? ''] ?? BAD_REQUEST))
      closeGently(socket)
    }
    const before = newest.get(socket)
    // malformed bytes after a complete request are answered after its response
    if (before?.req.complete && !before.res.closed) before.res.once('close', refuse)
    // a timeout is answered at once: Node reports it only once
    else refuse()
  })
  server.on('checkExpectation', (_req, res) =>
    sendResponse(res, toHttpMessage(errorAnswer(EXPECTATION)), ['connection', 'close']),
  )
  return () => {
    for (const socket of unused) socket.destroy()
  }
}

/** A request and its response. */
type Asked = Pick<HttpExchange, 'req' | 'res'>

/** Sockets that close after a response, with the request that gets this last response. */
const ended = new WeakMap<Socket, IncomingMessage>()

/** True if the response to another request closes the connection of this request, which then gets no response. */
export const isAfterLastResponse = (req: IncomingMessage): boolean =>
  ended.has(req.socket) && ended.get(req.socket) !== req

/** Undocumented part of Node's parser that is called for each request of a connection (lib/_http_server.js). */
interface Parsed {
  parser?: {
    onIncoming?: (req: IncomingMessage & { upgrade?: boolean }, isKept: boolean) => number
    [ON_BODY]?: unknown
  } | null
}

/** Index of the parser's callback for each part of a body (`kOnBody`). */
const ON_BODY = 3

/** Result of `onIncoming` that means an upgrade: Node parses no more HTTP on the connection. */
const STOP = 2

/**
 * Stops parsing after the head of a connection's last request. Neither its body nor pipelined requests are parsed,
 * because each part of a body, and each request, would cost as much as a refusal.
 */
function stopBehindLast(socket: Socket): void {
  const { parser } = socket as Parsed
  const serve = parser?.onIncoming
  if (!serve) return
  parser.onIncoming = (req, isKept) => {
    const step = ended.has(socket) ? STOP : serve(req, isKept)
    if (!ended.has(socket)) return step
    // Node destroys a connection whose upgrade has no handler, with the responses that are still queued
    req.upgrade = false
    return STOP
  }
}

/** Makes a response the last of its connection. The unread rest of the request stays unread. */
export function closeAfterResponse({ req, res }: Asked): void {
  const { socket } = req
  // a refused request comes here twice: when it is refused, and when its response is sent
  if (ended.get(socket) === req) return
  if (!ended.has(socket)) ended.set(socket, req)
  dropBody(socket)
  res.shouldKeepAlive = false
  const close = socket.destroySoon.bind(socket)
  const isWhole = req.complete || !hasBody(req)
  // unread bytes would reset the connection before the response arrives
  socket.destroySoon = () => (isWhole ? close() : closeGently(socket))
}

/** Sockets on which a request arrived before the response to an earlier one was sent. */
const pipelined = new WeakSet<Socket>()

/**
 * Makes a refusal the last response of the client's connection. A proxy's connection stays open, because requests of
 * other clients follow on it, unless a large part of the refused body is still to come. A peer that pipelines
 * requests is treated as a client, since no proxy does that.
 */
export function closeRefusedConnection(exchange: Asked & Pick<HttpExchange, 'isByProxy'>): void {
  const { isByProxy, req } = exchange
  if (!isByProxy || pipelined.has(req.socket) || hasLongRest(req)) closeAfterResponse(exchange)
}

/** Longest body of a refused request that is read to its end, bytes. */
const MAX_DRAINED_BYTES = 64 * 1024

/**
 * True if reading a refused request to its end would take long. Node itself reads the rest of a request that no handler
 * has begun to read.
 */
const hasLongRest = (req: IncomingMessage): boolean =>
  !req.complete &&
  hasBody(req) &&
  (req.readableDidRead || !(Number(req.headers['content-length']) <= MAX_DRAINED_BYTES))

/** Drops the remaining parts of a body. The parser then skips each part in a tenth of the time. */
function dropBody(socket: Socket): void {
  const { parser } = socket as Parsed
  const onBody = parser?.[ON_BODY]
  if (!parser || !onBody) return
  parser[ON_BODY] = null
  // Node reuses the parser for another connection
  socket.once('close', () => {
    parser[ON_BODY] = onBody
  })
}

/** Requests whose body came in too many parts. */
const inParts = new WeakSet<IncomingMessage>()

/** True if a body has more parts than its bytes allow. The rest of it is not parsed. */
export const hasTooManyBodyParts = (req: IncomingMessage): boolean => inParts.has(req)

/**
 * Ends a request at the first part of its body above the limit, whether the body is being read yet or not. One read of
 * a socket can hold eleven thousand one-byte parts, and Node's parser emits them all in one turn of the event loop.
 */
function boundParts({ req, res }: Asked): void {
  const push = req.push.bind(req)
  let allowed = MAX_SMALL_PARTS
  req.push = (part: Buffer | null, ...encoding) => {
    allowed += (part?.length ?? 0) / BYTES_PER_PART - 1
    if (allowed < 0 && !inParts.has(req)) {
      inParts.add(req)
      closeAfterResponse({ req, res })
    }
    return push(part, ...encoding)
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Closes our side of a connection at once, and the socket after `LINGER_MS`, so that the client can read the response.
 * Nothing more is read from the socket.
 */
function closeGently(socket: Socket): void {
  socket.end()
  // pause after Node has resumed the socket to discard unread data
  setImmediate(() => socket.pause())
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** The response to a malformed request, as bytes of HTTP. */
function rawAnswer(error: ApiError): string {
  const { status, headers, text } = toHttpMessage(errorAnswer(error))
  const fields = headers.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('')
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields}connection: close\r\n\r\n${text}`
}
