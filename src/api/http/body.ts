import { promisify } from 'node:util'
import express, { type Request, type Response } from 'express'
import { closeGently } from '../guard/underWay.js'
import type { Exchange } from '../serving/exchange.js'
import { ApiError } from './errors.js'

const BODY_LIMIT_BYTES = 256 * 1024
export const BODY_DEPTH_LIMIT = 32
/** Size from which the socket closes after the answer: below, Express reads a body to its end. */
const DRAIN_LIMIT_BYTES = 8 * 1024 * 1024

/** Express's `json` would refuse charsets of the content type, and decode what is not UTF-8. */
const readRaw = promisify(express.raw({ type: () => true, limit: BODY_LIMIT_BYTES, inflate: false }))

/** Request and response of a body. */
type Sent = Pick<Exchange, 'req' | 'res'>

const tooLarge = (bytes: number) =>
  new ApiError('invalid_request', `The body is larger than ${bytes} bytes.`, { status: 413 })

/**
 * Reads a request's body as JSON whatever its content type says; undefined when it is empty.
 * @param most bytes that are parsed
 * @throws ApiError invalid_request for a body that is too large (413), too deep, compressed, not UTF-8 or not JSON
 */
export async function readBody(sent: Sent, most = BODY_LIMIT_BYTES): Promise<unknown> {
  // the parser needs nothing of what Express adds to a request
  const [req, res] = [sent.req as Request, sent.res as Response]
  await Promise.race([readRaw(req, res).catch(refuse), farTooLarge(sent)])
  if (!Buffer.isBuffer(req.body)) return undefined
  if (req.body.length > most) throw tooLarge(most)
  return parseBody(req.body)
}

/** Converts an error of body-parser by its type; one that is not named here is a connection that broke. */
function refuse(error: unknown): never {
  const type = error instanceof Error && 'type' in error ? error.type : null
  if (type === 'entity.too.large') throw tooLarge(BODY_LIMIT_BYTES)
  const isCompressed = type === 'encoding.unsupported'
  throw new ApiError(
    'invalid_request',
    isCompressed ? 'The body is compressed: send it as it is.' : 'The body was cut off.',
  )
}

/** Rejects once more was sent than is read to its end; as much again is thrown away for who reads after writing. */
const farTooLarge = ({ req, res }: Sent): Promise<never> =>
  new Promise((_, reject) => {
    let left = DRAIN_LIMIT_BYTES
    req.on('data', (chunk: Buffer) => {
      const isOver = left < 0
      left -= chunk.length
      if (left < 0 && !isOver) reject(cutShort({ req, res }, tooLarge(BODY_LIMIT_BYTES)))
      if (left < -DRAIN_LIMIT_BYTES) req.pause()
    })
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
  if (isTooDeep(bytes))
    throw new ApiError('invalid_request', `The body is nested deeper than ${BODY_DEPTH_LIMIT} levels.`)
  try {
    const text = utf8.decode(bytes)
    return text.trim() === '' ? undefined : JSON.parse(text)
  } catch {
    throw new ApiError('invalid_request', 'The body is not JSON.')
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Counts brackets outside strings before parsing: in UTF-8 these bytes never occur inside another character. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > BODY_DEPTH_LIMIT) return true
    } else if (byte === 0x5d || byte === 0x7d) depth--
  }
  return false
}
