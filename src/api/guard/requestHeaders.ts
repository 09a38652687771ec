import type { IncomingMessage } from 'node:http'
import { ApiError } from '../http/errors.js'

/** Maximum number of headers of a request. */
const MAX_HEADERS = 64

/** Maximum length of the list of proxies that names the client, characters. */
export const MAX_FORWARDED_CHARS = 1_024

/** Maximum length of a key, characters. Other schemes than Bearer are ignored, and the tokens of a gateway may be long. */
const MAX_KEY_CHARS = 4_096

/** Maximum length of the headers that identify a caller, characters: of all headers of a name together. */
const MAX_IDENTITY_CHARS: ReadonlyMap<string, number> = new Map([
  ['authorization', MAX_KEY_CHARS],
  ['x-auth-key', MAX_KEY_CHARS],
  ['x-api-key', MAX_KEY_CHARS],
  ['x-forwarded-for', MAX_FORWARDED_CHARS],
  ['forwarded', MAX_FORWARDED_CHARS],
])

const tooLarge = (message: string) => new ApiError('invalid_request', message, { status: 431 })

/**
 * Why a request is refused for its headers; null for most requests. Counts the raw headers: Node's `headers` keeps only
 * the first of two with some names.
 */
export function checkRequestHeaders({
  rawHeaders,
}: Pick<IncomingMessage, 'rawHeaders'>): ApiError | null {
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return tooLarge(`The request has more than ${MAX_HEADERS} headers.`)
  const lengths = new Map<string, number>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const limit = MAX_IDENTITY_CHARS.get(name)
    if (limit === undefined) continue
    const length = (lengths.get(name) ?? 0) + rawHeaders[i + 1]!.length
    lengths.set(name, length)
    if (length > limit) return tooLarge(`The header ${name} is longer than ${limit} characters.`)
  }
  return null
}
