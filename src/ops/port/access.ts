import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Asks a browser for the secret (RFC 7617). */
export const CHALLENGE = { 'www-authenticate': 'Basic realm="clusterd", charset="UTF-8"' } as const

/**
 * Tells whether a request shows the secret `OPS_TOKEN`: as `Authorization: Bearer`, or as the password of HTTP's own
 * form with any user.
 */
export function showsSecret({ headers }: Pick<IncomingMessage, 'headers'>, secret: string): boolean {
  const [, scheme, given] = /^(Bearer|Basic) (.+)$/.exec(headers.authorization ?? '') ?? []
  if (given === undefined) return false
  const shown =
    scheme === 'Bearer'
      ? given
      : Buffer.from(given, 'base64')
          .toString()
          .replace(/^[^:]*:/, '')
  // digests: neither text's length nor its beginning shows in the time
  const [a, b] = [shown, secret].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}
