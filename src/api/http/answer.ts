import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { headersWithPolicy, PUBLIC_HEADERS } from './headers.js'

/** Response of a handler. `toHttpMessage` makes an HTTP message of it. */
export interface Answer {
  status: number
  content: AnswerContent
  /** Writes the body in pieces, after the head was sent. */
  stream?: (res: ServerResponse) => void
  headers?: Readonly<Record<string, string>> | undefined
  /**
   * Units of the route's price to give back, because this response did not need them. A negative number is an
   * additional charge.
   */
  unspent?: number
  /** True for a response that is not cached, because it depends on more than the data of its route's `cacheSource`. */
  isTransient?: boolean
}

/** Body of a response, with its media type. */
interface AnswerContent {
  type: string
  /** A Buffer is sent without a copy for each request. */
  text: string | Buffer
  /** Content-Security-Policy in place of the default, which forbids everything. */
  policy?: string
}

const JSON_CONTENT_TYPE = 'application/json; charset=utf-8'

/** Length from which a text is sent as a Buffer, because Node is slow at long strings. */
const LONG_TEXT_CHARS = 16_384

export function jsonAnswer(status: number, body: unknown, headers?: Answer['headers']): Answer {
  const text = JSON.stringify(body)
  return {
    status,
    content: {
      type: JSON_CONTENT_TYPE,
      text: text.length < LONG_TEXT_CHARS ? text : Buffer.from(text),
    },
    headers,
  }
}

/** JSON response with status 200. */
export const okAnswer = (body: unknown, headers?: Answer['headers']): Answer =>
  jsonAnswer(200, body, headers)

/** Response with status 200 of any media type. */
export const answerOfType = (
  type: string,
  text: string | Buffer,
  headers?: Answer['headers'],
): Answer => ({ status: 200, content: { type, text }, headers })

export const answerOfJsonBytes = (text: Buffer): Answer => answerOfType(JSON_CONTENT_TYPE, text)

/** Headers of responses that change from one poll to the next, or that hold secrets. */
export const NO_STORE = { 'cache-control': 'no-store' } as const

/** Response with an event stream (WHATWG HTML, 9.2). No cache stores it, and no proxy buffers or compresses it. */
export const eventStreamAnswer = (stream: NonNullable<Answer['stream']>): Answer => ({
  status: 200,
  stream,
  content: { type: 'text/event-stream', text: '' },
  headers: { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' },
})

/** Adds a weak entity tag (RFC 9110, 8.8.3) to a JSON response of status 200. Other responses are not changed. */
export function withEntityTag(answer: Answer): Answer {
  const { status, content, headers } = answer
  if (status !== 200 || content.type !== JSON_CONTENT_TYPE) return answer
  const etag = `W/"${hash('sha1', content.text, 'base64url')}"`
  return { ...answer, headers: { ...headers, etag } }
}

/** Maximum length of a list of entity tags, characters. A longer list counts as absent. */
const MAX_TAG_LIST_CHARS = 512

/**
 * Replaces a response by a 304 without content where `If-None-Match` has the response's tag (RFC 9110, 13.1.2 and
 * 15.4.5).
 */
export function notModifiedIfMatching(answer: Answer, ifNoneMatch: string | undefined): Answer {
  const etag = answer.headers?.etag
  if (ifNoneMatch === undefined || ifNoneMatch.length > MAX_TAG_LIST_CHARS || etag === undefined)
    return answer
  return matchesEntityTag(ifNoneMatch, etag) ? { ...answer, status: NOT_MODIFIED_STATUS } : answer
}

/** True if a list of tags is `*`, or has the tag by weak comparison. */
function matchesEntityTag(list: string, etag: string): boolean {
  if (list.trim() === '*') return true
  const hash = hashOfTag(etag)
  return hash !== undefined && list.split(',').some((tag) => hashOfTag(tag) === hash)
}

/**
 * Matches an entity tag of ours as proxies and clients send it back: strong or weak, with or without quotes, and with
 * the suffixes that compressing proxies add. Inside the quotes: `-gzip`, `-br` (Apache, Caddy), `--gzip` (Jetty),
 * `;gz`, `;br` (LiteSpeed), `-df`, `-ssl-df` (Netlify). After the quotes: `-gzip` (Apache 2.2). nginx, HAProxy and
 * Cloudflare leave a weak tag unchanged. The hash has a fixed length, so no suffix can be a part of another tag's hash.
 */
const ENTITY_TAG_PATTERN =
  /^\s*(?:W\/)?("?)([\w-]{27})(?:(?:--?|[;:])(?:gzip|gz|brotli|br|zstd|deflate|df|ssl)){0,2}\1(?:-gzip)?\s*$/i

const hashOfTag = (tag: string): string | undefined => ENTITY_TAG_PATTERN.exec(tag)?.[2]

const NOT_MODIFIED_STATUS = 304

/** Status, headers and text of a response, without the headers that depend on its request. */
export interface HttpMessage extends Pick<Answer, 'status' | 'stream'> {
  /** Names and values in alternation. */
  headers: readonly string[]
  text: string | Buffer
  /** Length of the text, bytes. */
  bytes: number
}

/**
 * `Cache-Control` of a response that sets none. Without the header a cache may store even a 404 for a time of its own
 * choice (RFC 9111, 4.2.2).
 */
const DEFAULT_CACHE_CONTROL = 'no-cache'

export function toHttpMessage({
  status,
  stream,
  content,
  headers: extraHeaders = {},
}: Answer): HttpMessage {
  const { type, policy } = content
  const text = status === NOT_MODIFIED_STATUS ? '' : content.text
  const bytes = Buffer.byteLength(text)
  const headers = policy === undefined ? [...PUBLIC_HEADERS] : headersWithPolicy(policy)
  if (status !== NOT_MODIFIED_STATUS) headers.push('content-type', type)
  if (status !== NOT_MODIFIED_STATUS && !stream) headers.push('content-length', String(bytes))
  if (extraHeaders['cache-control'] === undefined)
    headers.push('cache-control', DEFAULT_CACHE_CONTROL)
  for (const [name, value] of Object.entries(extraHeaders)) headers.push(name, value)
  return { status, stream, headers, text, bytes }
}

/**
 * Maximum length of a refused request's body that is read to its end, bytes. Reading to the end keeps a proxy's
 * connection open.
 */
const MAX_DRAINED_BYTES = 128 * 1024
/**
 * Time to wait before a connection with an unread body is closed. Closing immediately would reset the connection before
 * the client has read the response.
 */
const LINGER_MS = 5_000

/** True if a body did not arrive in time, or if reading the rest of a refused request's body would take long. */
const isBodyAbandoned = (status: number, { complete, headers }: IncomingMessage): boolean =>
  !complete &&
  (status === 408 ||
    (status >= 400 &&
      (headers['transfer-encoding'] !== undefined ||
        Number(headers['content-length'] ?? 0) > MAX_DRAINED_BYTES)))

/**
 * Sends a message in one write, unless the socket is closed or a response was sent before. If the rest of the request's
 * body stays unread, the connection is closed afterwards.
 * @param extraHeaders further headers of this response: names and values in alternation
 */
export function sendResponse(
  res: ServerResponse,
  message: HttpMessage,
  extraHeaders: readonly string[],
): void {
  if (res.headersSent || res.destroyed) return
  const { status, stream, headers, text } = message
  const isLast = isBodyAbandoned(status, res.req)
  // a stream ends together with its connection
  if (stream) res.shouldKeepAlive = false
  res.writeHead(status, headers.concat(extraHeaders, isLast ? CLOSE_HEADER : []))
  if (stream && res.req.method !== 'HEAD') stream(res)
  else if (isLast) endLate(res, text)
  else res.end(text)
}

const CLOSE_HEADER = ['connection', 'close']

/** Ends a response after `LINGER_MS`. The end closes the connection. */
function endLate(res: ServerResponse, text: string | Buffer): void {
  // sends the headers of a response to HEAD, where `write` sends nothing
  res.flushHeaders()
  res.write(text)
  const timer = setTimeout(() => res.end(), LINGER_MS)
  res.once('close', () => clearTimeout(timer))
}
