import type { IncomingMessage } from 'node:http'
import { ApiError } from './errors.js'

export const BODY_LIMIT_BYTES = 256 * 1024
export const BODY_DEPTH_LIMIT = 32
/** A body over the limit is read on, and thrown away, up to this size, so that its sender gets to see the answer. */
const DRAIN_LIMIT_BYTES = 8 * 1024 * 1024

/**
 * Reads a request's body as JSON whatever its content type says; undefined when it is empty.
 * @throws ApiError invalid_request for a body that is too large, too deep, compressed, not UTF-8 or not JSON
 */
export async function readBody(req: IncomingMessage): Promise<unknown> {
  const encoding = req.headers['content-encoding']
  const bytes = await readBytes(req)
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ApiError('invalid_request', 'The body is compressed: send it as it is.')
  return parseBody(bytes)
}

function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= BODY_LIMIT_BYTES) chunks.push(chunk)
      else chunks.length = 0
      if (size > DRAIN_LIMIT_BYTES) req.destroy()
    })
    req.on('end', () => {
      if (size <= BODY_LIMIT_BYTES) resolve(Buffer.concat(chunks, size))
      else reject(new ApiError('invalid_request', `The body is larger than ${BODY_LIMIT_BYTES} bytes.`))
    })
    const cut = () => reject(new ApiError('invalid_request', 'The body was cut off.'))
    req.on('error', cut)
    req.on('close', () => {
      if (!req.complete) cut()
    })
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Reads the bytes of a body as JSON; undefined when there are none. @throws ApiError invalid_request */
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

/** Counts brackets outside strings, before anything is built: in UTF-8 these bytes never occur inside another character. */
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
