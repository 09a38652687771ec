import { closeGently } from '../guard/socketLimits.js'
import type { Exchange } from '../serving/exchange.js'
import { ApiError } from './errors.js'
import type { Route } from './route.js'
import { z } from './schema.js'

/** Size of a list, as a bulk look-up takes it. */
const BODY_LIMIT_BYTES = 128 * 1024
/** Size of an object: the rules of a community are the largest. */
const OBJECT_LIMIT_BYTES = 64 * 1024
/** Size from which the socket closes after the answer; below, a body is read to its end. */
const DRAIN_LIMIT_BYTES = 8 * 1024 * 1024

/** Request and response of a body. */
type Sent = Pick<Exchange, 'req' | 'res'>

const tooLarge = (bytes: number) =>
  new ApiError('invalid_request', `The body is larger than ${bytes} bytes.`, { status: 413 })

/**
 * A request's body as JSON whatever its content type says; undefined when it is empty.
 * @throws ApiError invalid_request for a body that is too large (413), compressed, not UTF-8 or not JSON
 */
export function bodyOf({ headers }: Sent['req'], bytes: Buffer, { body }: Pick<Route, 'body'>): unknown {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity' && bytes.length > 0)
    throw new ApiError('invalid_request', 'The body is compressed: send it as it is.')
  const most = body instanceof z.ZodArray ? BODY_LIMIT_BYTES : OBJECT_LIMIT_BYTES
  if (bytes.length > most) throw tooLarge(most)
  return parseBody(bytes)
}

/**
 * Reads a body to its end, within bounds: what is larger than its limit is thrown away as it comes, and what is far
 * larger is not read to its end; as much again is thrown away for who reads after writing.
 * @throws ApiError invalid_request for a body that is too large (413), or cut off
 */
export const readBytes = ({ req, res }: Sent): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    req.on('data', (chunk: Buffer) => {
      const wasOver = bytes > DRAIN_LIMIT_BYTES
      bytes += chunk.length
      if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk)
      else chunks.length = 0
      if (bytes > DRAIN_LIMIT_BYTES && !wasOver) reject(cutShort({ req, res }, tooLarge(BODY_LIMIT_BYTES)))
      if (bytes > 2 * DRAIN_LIMIT_BYTES) req.pause()
    })
    req.once('end', () => {
      if (bytes > BODY_LIMIT_BYTES) reject(tooLarge(BODY_LIMIT_BYTES))
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    req.once('error', () => reject(new ApiError('invalid_request', 'The body was cut off.')))
  })

/** Error of a body that drips. */
export const tooSlow = () => new ApiError('invalid_request', 'The body took too long to arrive.', { status: 408 })

/** Has the rest of a body thrown away after the answer with this error, and the socket closed. */
export function cutShort({ req, res }: Sent, error: ApiError): ApiError {
  res.once('finish', () => closeGently(req.socket))
  return error
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Parses a body; undefined when it is empty or blank. @throws ApiError invalid_request */
export function parseBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  try {
    const text = utf8.decode(bytes)
    return text.trim() === '' ? undefined : JSON.parse(text)
  } catch {
    throw new ApiError('invalid_request', 'The body is not JSON.')
  }
}
