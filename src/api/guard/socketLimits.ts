import {
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { messageOf, send } from '../http/answer.js'
import { ApiError, errorAnswer } from '../http/errors.js'
import type { Exchange } from '../serving/exchange.js'

const HEADER_LIMIT_BYTES = 16 * 1024
const HEADERS_TIMEOUT_MS = 10_000
/** Time from the first byte of a request to the last of its body. */
const REQUEST_TIMEOUT_MS = 20_000
const KEEP_ALIVE_MS = 65_000
const MAX_REQUESTS_PER_SOCKET = 100_000
/** Time without a byte in either direction while an answer is under way: longer than any handler works. */
const IDLE_TIMEOUT_MS = 30_000
/** Half of what files and sockets a process is usually given. */
const MAX_CONNECTIONS = 10_000
/** Time for the answers of a socket that is closed to reach its other end. */
const LINGER_MS = 5_000

/** Parts of a chunked body: so many, and another for each so many bytes. Each takes as long as some hundred bytes. */
const MAX_SMALL_PARTS = 256
const BYTES_PER_PART = 32

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

/**
 * Sets the limits that `createServer` does not take, and answers malformed HTTP in JSON. Connections of one address, and
 * requests that it pipelines, are a proxy's to bound.
 * @returns closes the connections that have asked for nothing yet, as a browser opens them ahead: Node counts them as
 *   busy, and a server that closes waits for them without end
 */
export function protectServer(server: Server, maxConnections = MAX_CONNECTIONS): () => void {
  const unused = new Set<Socket>()
  const newest = new WeakMap<Socket, Asked>()
  server.on('connection', (socket: Socket) => {
    stopBehindLast(socket)
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    unused.delete(req.socket)
    newest.set(req.socket, { req, res })
    if (req.headers['transfer-encoding'] !== undefined) boundParts({ req, res })
  })
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = maxConnections
  server.timeout = IDLE_TIMEOUT_MS
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    // what follows the last request is no HTTP to the parser
    if (ended.has(socket)) return
    const refuse = () => {
      if (socket.writable) socket.write(rawAnswer(FAULTS[error.code ?? ''] ?? BAD_REQUEST))
      closeGently(socket)
    }
    const before = newest.get(socket)
    // what is malformed behind a whole request waits for its answer
    if (before?.req.complete && !before.res.closed) before.res.once('close', refuse)
    // Node reports once that a request takes too long
    else refuse()
  })
  server.on('checkExpectation', (_req, res) =>
    send(res, messageOf(errorAnswer(EXPECTATION)), ['connection', 'close']),
  )
  return () => {
    for (const socket of unused) socket.destroy()
  }
}

/** A request and its answer. */
type Asked = Pick<Exchange, 'req' | 'res'>

/** Last requests of the sockets whose last answer is decided. */
const ended = new WeakMap<Socket, IncomingMessage>()

/** True if the answer of another request ends the connection that this request came on: it gets no answer. */
export const isEnded = (req: IncomingMessage): boolean =>
  ended.has(req.socket) && ended.get(req.socket) !== req

/** What Node's parser calls for each request of a connection (lib/_http_server.js): no part of its documented interface. */
interface Parsed {
  parser?: {
    onIncoming?: (req: IncomingMessage & { upgrade?: boolean }, isKept: boolean) => number
    [ON_BODY]?: unknown
  } | null
}

/** Index of what the parser calls for each part of a body (`kOnBody`). */
const ON_BODY = 3

/** An upgrade, after which Node reads no more HTTP from a connection. */
const STOP = 2

/**
 * Parses nothing of a connection behind the head of its last request: neither its body nor requests that were pipelined,
 * each piece of which would take as long as a refusal.
 */
function stopBehindLast(socket: Socket): void {
  const { parser } = socket as Parsed
  const serve = parser?.onIncoming
  if (!serve) return
  parser.onIncoming = (req, isKept) => {
    const step = ended.has(socket) ? STOP : serve(req, isKept)
    if (!ended.has(socket)) return step
    // Node destroys a connection whose upgrade nobody takes, and the answers that wait with it
    req.upgrade = false
    return STOP
  }
}

/** Makes an answer the last of its connection. What was not read of the request is left unread. */
export function endAfter({ req, res }: Asked): void {
  const { socket } = req
  // a refusal ends it at once, and again with its answer
  if (ended.get(socket) === req) return
  if (!ended.has(socket)) ended.set(socket, req)
  dropBody(socket)
  res.shouldKeepAlive = false
  const close = socket.destroySoon.bind(socket)
  const isWhole = req.complete || !hasBody(req)
  // bytes that were not read would reset the connection, and the answer with it
  socket.destroySoon = () => (isWhole ? close() : closeGently(socket))
}

/** Hands on no more parts of a body: the parser skips each in a tenth of the time, to the end of what was read. */
function dropBody(socket: Socket): void {
  const { parser } = socket as Parsed
  const onBody = parser?.[ON_BODY]
  if (!parser || !onBody) return
  parser[ON_BODY] = null
  // Node gives the parser to another connection
  socket.once('close', () => {
    parser[ON_BODY] = onBody
  })
}

/** Requests whose body came in too many parts. */
const inParts = new WeakSet<IncomingMessage>()

/** True if a body has more parts than its bytes allow. The rest of it is not parsed. */
export const isInParts = (req: IncomingMessage): boolean => inParts.has(req)

/**
 * Ends a request at the first part too many, whether anybody reads its body yet or not: one read of a socket has eleven
 * thousand parts of a byte, which Node's parser hands on in a single turn of the event loop.
 */
function boundParts({ req, res }: Asked): void {
  const push = req.push.bind(req)
  let allowed = MAX_SMALL_PARTS
  req.push = (part: Buffer | null, ...encoding) => {
    allowed += (part?.length ?? 0) / BYTES_PER_PART - 1
    if (allowed < 0 && !inParts.has(req)) {
      inParts.add(req)
      endAfter({ req, res })
    }
    return push(part, ...encoding)
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Closes our half at once, and the rest when the other end had time to read. Nothing more is read. */
function closeGently(socket: Socket): void {
  socket.end()
  // after Node has resumed it, to throw away what nobody reads
  setImmediate(() => socket.pause())
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** The answer to what is no request yet, as bytes of HTTP. */
function rawAnswer(error: ApiError): string {
  const { status, headers, text } = messageOf(errorAnswer(error))
  const fields = headers.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('')
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields}connection: close\r\n\r\n${text}`
}
