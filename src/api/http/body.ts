import type { IncomingMessage } from 'node:http'
import { mapWithoutBlocking, type WaitForEventLoopTurn } from '../../ops/turns.js'
import { ApiError } from './errors.js'
import type { Route } from './route.js'
import { MAX_BULK_WALLET_ADDRESSES, z } from './schema.js'

/** Size limit of a list, as in a bulk look-up. */
const LIST_LIMIT_BYTES = 128 * 1024
/** Size limit of an object. The rules of a community are the largest object. */
const OBJECT_LIMIT_BYTES = 64 * 1024
/** Size limit of the address list of `POST /v1/wallets`. */
const BULK_LIMIT_BYTES = 8 * 1024 * 1024

/** Size limit of a route's body, which depends on whether the body is a list. */
export function bodyLimitBytes({ body, isBulk }: Route): number {
  if (isBulk) return BULK_LIMIT_BYTES
  return body instanceof z.ZodArray ? LIST_LIMIT_BYTES : OBJECT_LIMIT_BYTES
}

/** Error of a body that is longer than its route's limit. */
export const bodyTooLargeError = (bytes: number) =>
  new ApiError('invalid_request', `The body is larger than ${bytes} bytes.`, { status: 413 })

/**
 * Maximum length of a request's body, bytes: the declared length. For a chunked body it is the limit of the route.
 * @param limit of the route, bytes
 */
export const announcedBodyBytes = ({ headers }: IncomingMessage, limit: number): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : limit

/**
 * Parses a request's body, whatever its content type: as text where the route takes text, as a list of texts for a bulk
 * route, else as JSON. An empty JSON body gives undefined.
 * @throws ApiError invalid_request for a compressed body, for JSON that is malformed or not UTF-8, and for a malformed
 * list; too_many for a long list; also the errors of `turn`
 */
export async function parseRequestBody(
  { headers }: IncomingMessage,
  bytes: Buffer,
  { isBulk, isText }: Route,
  turn: WaitForEventLoopTurn,
): Promise<unknown> {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity' && bytes.length > 0)
    throw new ApiError('invalid_request', 'The body is compressed: send it as it is.')
  if (isText) return bytes.toString()
  return isBulk ? parseTextList(bytes, turn) : parseJsonBody(bytes)
}

/**
 * Maximum number of pieces (chunks) of a body: 256, and one more for every 32 bytes. A piece takes as much processor
 * time as some hundred bytes.
 */
const MAX_SMALL_PIECES = 256
const BYTES_PER_PIECE = 32

const PIECES_TOO_SMALL_MESSAGE =
  'The parts of the body are too small: send at least 32 bytes in each chunk.'
const piecesTooSmallError = () =>
  new ApiError('invalid_request', PIECES_TOO_SMALL_MESSAGE, { status: 413 })

/**
 * Reads a body into one buffer. The rest of a refused body stays unread.
 * @param limit bytes
 * @throws ApiError invalid_request for a body that is too large or in too many pieces (413), or cut off
 */
export const readBodyBytes = (req: IncomingMessage, limit: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const body = Buffer.allocUnsafe(limit)
    let length = 0
    let pieces = 0
    const take = (piece: Buffer) => {
      pieces += 1
      const isTooLarge = length + piece.length > limit
      length += piece.copy(body, length)
      if (!isTooLarge && pieces <= MAX_SMALL_PIECES + length / BYTES_PER_PIECE) return
      req.pause().off('data', take)
      reject(isTooLarge ? bodyTooLargeError(limit) : piecesTooSmallError())
    }
    req.on('data', take)
    req.once('end', () => resolve(body.subarray(0, length)))
    req.once('error', () => reject(new ApiError('invalid_request', 'The body was cut off.')))
  })

/** Error of a body that arrives too slowly. */
export const bodyTooSlowError = () =>
  new ApiError('invalid_request', 'The body took too long to arrive.', { status: 408 })

const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Parses a body as JSON; undefined when the body is empty or blank. @throws ApiError invalid_request */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  try {
    const text = utf8Decoder.decode(bytes)
    return text.trim() === '' ? undefined : JSON.parse(text)
  } catch {
    throw new ApiError('invalid_request', 'The body is not JSON.')
  }
}

/**
 * Matches an element of a bulk route's list, with or without quotes: short, without characters that JSON would
 * interpret.
 */
const LIST_ELEMENT_PATTERN = /^("?)([^",\\[\]{}\p{Cc}]{0,128})\1$/u

/**
 * Parses the body of a bulk route: an array of texts, or one text per line. Awaits `turn` between parts of the list, so
 * that other requests run.
 * @throws ApiError invalid_request, too_many
 */
async function parseTextList(bytes: Buffer, turn: WaitForEventLoopTurn): Promise<string[]> {
  // decoding and splitting 8 MiB takes some 25 ms
  await turn()
  // `trim` also removes a byte order mark
  const list = bytes.toString('utf8').trim()
  if (list === '') throw new ApiError('invalid_request', 'The request has no body.')
  const isArray = list.startsWith('[') && list.endsWith(']')
  const inside = isArray ? list.slice(1, -1).trim() : list
  if (inside === '') return []
  const elements = inside.split(isArray ? ',' : '\n', MAX_BULK_WALLET_ADDRESSES + 1)
  if (elements.length > MAX_BULK_WALLET_ADDRESSES)
    throw new ApiError(
      'too_many',
      `At most ${MAX_BULK_WALLET_ADDRESSES} elements are taken at once.`,
    )
  return mapWithoutBlocking(turn, elements, (element, i) => {
    const [, quote, text] = LIST_ELEMENT_PATTERN.exec(element.trim()) ?? []
    if (text !== undefined && (quote || !isArray)) return text
    throw new ApiError(
      'invalid_request',
      `${isArray ? 'Element' : 'Line'} ${i + 1} is no text of an address.`,
    )
  })
}
