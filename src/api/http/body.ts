import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import express, { type Request } from 'express'
import { ApiError } from './errors.js'

const BODY_LIMIT_BYTES = 256 * 1024
export const BODY_DEPTH_LIMIT = 32
/** Size from which the socket closes: below, Express reads a body to its end, so that the sender sees the answer. */
const DRAIN_LIMIT_BYTES = 8 * 1024 * 1024

/** Express's `json` would refuse charsets of the content type, and decode what is not UTF-8. */
const readRaw = promisify(express.raw({ type: () => true, limit: BODY_LIMIT_BYTES, inflate: false }))

/** Sentences for the error types of body-parser; any other one is a connection that broke. */
const MESSAGES: Readonly<Record<string, string>> = {
  'entity.too.large': `The body is larger than ${BODY_LIMIT_BYTES} bytes.`,
  'encoding.unsupported': 'The body is compressed: send it as it is.',
}

/**
 * Reads a request's body as JSON whatever its content type says; undefined when it is empty.
 * @throws ApiError invalid_request for a body that is too large, too deep, compressed, not UTF-8 or not JSON
 */
export async function readBody(req: Request): Promise<unknown> {
  limitDrain(req)
  try {
    await readRaw(req, req.res!)
  } catch (error) {
    const type = error instanceof Error && 'type' in error ? String(error.type) : ''
    throw new ApiError('invalid_request', MESSAGES[type] ?? 'The body was cut off.')
  }
  return Buffer.isBuffer(req.body) ? parseBody(req.body) : undefined
}

function limitDrain(req: IncomingMessage): void {
  let size = 0
  req.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > DRAIN_LIMIT_BYTES) req.destroy()
  })
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
