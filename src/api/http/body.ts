import { mapInTurns } from '../guard/slices.js'
import { closeGently } from '../guard/socketLimits.js'
import type { Exchange } from '../serving/exchange.js'
import { ApiError } from './errors.js'
import type { Route } from './route.js'
import { MAX_BULK, z } from './schema.js'

/** Size of a list, as a bulk look-up takes it. */
const BODY_LIMIT_BYTES = 128 * 1024
/** Size of an object: the rules of a community are the largest. */
const OBJECT_LIMIT_BYTES = 64 * 1024
/** Size of a bulk, and from which the socket closes after the answer. */
const DRAIN_LIMIT_BYTES = 8 * 1024 * 1024

/** Request and response of a body. */
type Sent = Pick<Exchange, 'req' | 'res'>

const tooLarge = (bytes: number) =>
  new ApiError('invalid_request', `The body is larger than ${bytes} bytes.`, { status: 413 })

/**
 * A request's body as JSON whatever its content type says; undefined when it is empty.
 * @throws ApiError invalid_request for a body that is too large (413), compressed, not UTF-8 or not JSON
 */
export async function bodyOf(
  { headers }: Sent['req'],
  bytes: Buffer,
  { body, isBulk }: Route,
): Promise<unknown> {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity' && bytes.length > 0)
    throw new ApiError('invalid_request', 'The body is compressed: send it as it is.')
  if (isBulk) return textsOf(bytes)
  const most = body instanceof z.ZodArray ? BODY_LIMIT_BYTES : OBJECT_LIMIT_BYTES
  if (bytes.length > most) throw tooLarge(most)
  return parseBody(bytes)
}

/**
 * Reads a body to its end, within bounds: what is larger than its limit is thrown away as it comes, and what is far
 * larger is not read to its end; as much again is thrown away for who reads after writing.
 * @throws ApiError invalid_request for a body that is too large (413), or cut off
 */
export const readBytes = ({ req, res }: Sent, { isBulk }: Route): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const most = isBulk ? DRAIN_LIMIT_BYTES : BODY_LIMIT_BYTES
    const chunks: Buffer[] = []
    let bytes = 0
    req.on('data', (chunk: Buffer) => {
      const wasOver = bytes > DRAIN_LIMIT_BYTES
      bytes += chunk.length
      if (bytes <= most) chunks.push(chunk)
      else chunks.length = 0
      if (bytes > DRAIN_LIMIT_BYTES && !wasOver) reject(cutShort({ req, res }, tooLarge(most)))
      if (bytes > 2 * DRAIN_LIMIT_BYTES) req.pause()
    })
    req.once('end', () => {
      if (bytes > most) reject(tooLarge(most))
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    req.once('error', () => reject(new ApiError('invalid_request', 'The body was cut off.')))
  })

/** Error of a body that drips. */
export const tooSlow = () =>
  new ApiError('invalid_request', 'The body took too long to arrive.', { status: 408 })

/** The rest of the body is thrown away after the answer, and the socket closed. */
export function cutShort({ req, res }: Sent, error: ApiError): ApiError {
  res.once('finish', () => closeGently(req.socket))
  return error
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Undefined when the body is empty or blank. @throws ApiError invalid_request */
export function parseBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  try {
    const text = utf8.decode(bytes)
    return text.trim() === '' ? undefined : JSON.parse(text)
  } catch {
    throw new ApiError('invalid_request', 'The body is not JSON.')
  }
}

/** Text of a bulk, bare or in quotes: short, with nothing that JSON would read. */
const TEXT = /^("?)([^",\\[\]{}\p{Cc}]{0,128})\1$/u

/** An array of texts, or one in each line, read in turns. @throws ApiError invalid_request, too_many */
async function textsOf(bytes: Buffer): Promise<string[]> {
  const text = bytes.toString().trim()
  if (text === '') throw new ApiError('invalid_request', 'The request has no body.')
  const isArray = text.startsWith('[') && text.endsWith(']')
  const inside = isArray ? text.slice(1, -1) : text
  if (inside.trim() === '') return []
  const parts = inside.split(isArray ? ',' : '\n', MAX_BULK + 1)
  if (parts.length > MAX_BULK)
    throw new ApiError('too_many', `At most ${MAX_BULK} elements are taken at once.`)
  return mapInTurns(parts, (part, i) => {
    const [, quote, found] = TEXT.exec(part.trim()) ?? []
    if (found !== undefined && (quote || !isArray)) return found
    throw new ApiError(
      'invalid_request',
      `${isArray ? 'Element' : 'Line'} ${i + 1} is no text of an address.`,
    )
  })
}
