import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { promisify } from 'node:util'
import { unzip } from 'node:zlib'
import '../../ops/connectAttemptTimeout.js'
import { USER_AGENT } from '../../ops/version.js'

/** Largest answer in bytes, compressed and decompressed. */
const MAX_ANSWER_BYTES = 10 * 2 ** 20
/** zlib's error code for an answer that is too large after decompression. */
export const ANSWER_TOO_LARGE_ERROR_CODE = 'ERR_BUFFER_TOO_LARGE'
/**
 * Keep-alive time of an unused connection, ms: longer than the pauses between blocks and between polls, shorter than
 * that of most servers. Node's agent obeys a server that states a shorter time in its `Keep-Alive` header.
 */
const KEEP_ALIVE_MS = 20_000
const REQUEST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'gzip',
  'user-agent': USER_AGENT,
} as const

/** Answer of a node: parsed JSON with the status and headers of its HTTP response. */
export interface JsonHttpAnswer {
  status: number
  headers: Pick<Headers, 'get'>
  data: unknown
}

/**
 * Creates a client that posts JSON to one URL over kept-alive connections. Uses Node's http module, because `fetch`
 * takes three times the processor time for a small call. The timeout covers the whole answer, including its last byte.
 * @returns also an answer with a status other than 2xx if its body is a JSON-RPC error
 * @throws Error with status, headers and body (`details`, only for classification) for any other answer whose status is
 * not 2xx. Error with the `code` of the connection error, or of Node's zlib where the answer is too large. Error for a
 * timeout. SyntaxError for a 2xx body that is not JSON
 */
export function createJsonHttpClient(
  url: string,
): (body: unknown, limitMs: number) => Promise<JsonHttpAnswer> {
  const { protocol, ...target } = urlToHttpOptions(new URL(url))
  const isTls = protocol === 'https:'
  const agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true, timeout: KEEP_ALIVE_MS })
  const open = (bytes: number, isRepeated: boolean): ClientRequest => {
    const headers = { 'content-length': bytes, ...REQUEST_HEADERS }
    // a repeated request uses a new connection, because the server may have closed all kept-alive connections
    const options = { method: 'POST', agent: isRepeated ? false : agent, headers, ...target }
    return isTls ? httpsRequest(options) : httpRequest(options)
  }
  return async (body, limitMs) => {
    const text = Buffer.from(JSON.stringify(body))
    let request: ClientRequest | undefined
    let late: Error | undefined
    // no AbortSignal per request: its listeners, and its timer that outlives the answer, take a fifth of a small call's
    // processor time
    const timer = setTimeout(() => {
      late = new Error(`timed out: no answer within ${limitMs} ms`)
      request?.destroy(late)
    }, limitMs)
    const ask = async (onStale?: () => Promise<JsonHttpAnswer>) => {
      if (late) throw late
      request = open(text.length, !onStale)
      return exchange(request, text, onStale)
    }
    try {
      return await ask(ask)
    } catch (error) {
      throw late ?? error
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * Sends a request and reads its answer.
 * @param onStale sends the request again; called where the server closed a kept-alive connection while the request was
 * on its way
 */
function exchange(
  request: ClientRequest,
  text: Buffer,
  onStale?: () => Promise<JsonHttpAnswer>,
): Promise<JsonHttpAnswer> {
  return new Promise((resolve, reject) => {
    // once the response's headers have arrived, the response emits errors instead of the request
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (onStale && request.reusedSocket && error.code === 'ECONNRESET') resolve(onStale())
      else reject(error)
    })
    request.on('response', (response) => {
      readBody(response)
        .then((body) => parseAnswer(response, body))
        .then(resolve, reject)
    })
    request.end(text)
  })
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES)
      throw Object.assign(new Error('the answer is too large'), {
        code: ANSWER_TOO_LARGE_ERROR_CODE,
      })
    chunks.push(chunk)
  }
  const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  return decompress(body, response.headers['content-encoding'])
}

function decompress(body: Buffer, encoding = 'identity'): Promise<Buffer> | Buffer {
  const isPlain = encoding.trim().toLowerCase() === 'identity' || body.length === 0
  return isPlain ? body : promisify(unzip)(body, { maxOutputLength: MAX_ANSWER_BYTES })
}

function parseAnswer(
  { statusCode: status = 0, statusMessage, headers }: IncomingMessage,
  body: Buffer,
): JsonHttpAnswer {
  const head = { status, headers: { get: (name: string) => headers[name]?.toString() ?? null } }
  const text = body.toString()
  if (status >= 200 && status < 300) return { ...head, data: JSON.parse(text || '{}') }
  const data = parseErrorBody(text)
  const { error } = data
  if (typeof error === 'object' && typeof error?.message === 'string') return { ...head, data }
  const details = (error ? JSON.stringify(error) : text) || (statusMessage ?? '')
  throw Object.assign(new Error(`HTTP ${status}`), { ...head, details })
}

function parseErrorBody(text: string): { error?: string | { message?: unknown } | null } {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
