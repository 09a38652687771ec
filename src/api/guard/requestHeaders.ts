import type { IncomingMessage } from 'node:http'
import { ApiError } from '../http/errors.js'

const MAX_HEADERS = 64

/** Maximum length of `X-Forwarded-For` and of `Forwarded`, characters. */
export const MAX_FORWARDED_CHARS = 1_024

/**
 * Maximum length of a key, characters. Our keys are shorter. The limit leaves room for a gateway's tokens in other
 * schemes than Bearer, which are ignored.
 */
const MAX_KEY_CHARS = 4_096

/** Headers that identify a caller, with the maximum total length of all headers of a name, characters. */
const MAX_IDENTITY_CHARS: readonly (readonly [name: string, limit: number])[] = [
  ['authorization', MAX_KEY_CHARS],
  ['x-auth-key', MAX_KEY_CHARS],
  ['x-api-key', MAX_KEY_CHARS],
  ['x-forwarded-for', MAX_FORWARDED_CHARS],
  ['forwarded', MAX_FORWARDED_CHARS],
]

const headersTooLargeError = (message: string) =>
  new ApiError('invalid_request', message, { status: 431 })

/**
 * The error of a request with too many or too long headers; null for accepted headers. Counts the raw headers, because
 * Node's `headers` keeps only the first of two headers with some names.
 */
export function checkRequestHeaders(
  request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
): ApiError | null {
  if (request.rawHeaders.length > 2 * MAX_HEADERS)
    return headersTooLargeError(`The request has more than ${MAX_HEADERS} headers.`)
  for (const [name, limit] of MAX_IDENTITY_CHARS)
    if (request.headers[name] !== undefined && rawLength(request.rawHeaders, name) > limit)
      return headersTooLargeError(`The header ${name} is longer than ${limit} characters.`)
  return null
}

/** Length of all headers of a name together. @param headers names and values in alternation */
function rawLength(headers: readonly string[], name: string): number {
  let length = 0
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i]!.toLowerCase() === name) length += headers[i + 1]!.length
  return length
}
