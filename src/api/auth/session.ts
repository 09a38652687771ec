import type { IncomingMessage } from 'node:http'
import { findSession } from '../../db/auth/sessions.js'
import { authKey, authKeyHash } from '../../registry/auth/key.js'
import { walletKindOf } from '../../registry/auth/kinds.js'
import { decodeWallet } from '../../registry/primitives/address.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import type { AuthRule, Session } from '../http/route.js'
import { isoTimestamp } from '../http/timestamps.js'

/** Header values that some clients send when they have no key. */
const NO_KEY_VALUES = new Set(['', 'undefined', 'null'])

/** Part of the context that a look-up of a key's session needs. */
type SessionContext = Pick<Context, 'pool' | 'auth'>

/** Raw headers, because Node's `headers` keeps only the first of two `Authorization` headers. */
type RawHeaders = Pick<IncomingMessage, 'rawHeaders'>

/**
 * The key of a request, from `Authorization: Bearer` or `X-AUTH-KEY`; undefined where there is none. Other
 * authorization schemes are ignored.
 * @throws ApiError invalid_request for two different keys
 */
function keyOfRequest({ rawHeaders }: RawHeaders): string | undefined {
  const keys = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const value = rawHeaders[i + 1]
    const bearer = name === 'authorization' ? /^bearer +(.*)$/i.exec(value ?? '')?.[1] : undefined
    const key = keyInHeader(name === 'x-auth-key' ? value : bearer)
    if (key !== undefined) keys.add(key)
  }
  if (keys.size > 1)
    throw new ApiError(
      'invalid_request',
      'Authorization and X-AUTH-KEY carry two different keys: send one.',
    )
  return [...keys][0]
}

/** The trimmed key; undefined for an absent header and for a value in `NO_KEY_VALUES`. */
function keyInHeader(text: string | undefined): string | undefined {
  const key = text?.trim()
  return key === undefined || NO_KEY_VALUES.has(key) ? undefined : key
}

/**
 * The session of a request, by its route's authentication rule.
 * @returns null where the route has no rule, or with `optional` and no valid key
 * @throws ApiError unauthorized where a key is required and no valid key was sent; invalid_request for two different
 * keys
 */
export async function authenticate(
  request: RawHeaders,
  rule: AuthRule,
  context: SessionContext,
): Promise<Session | null> {
  if (!rule) return null
  const key = keyOfRequest(request)
  const session = key === undefined ? null : await findLiveSession(key, context)
  if (session || rule === 'optional') return session
  throw key === undefined ? missingKeyError() : invalidKeyError()
}

/** Error of a request with a wrong, expired or revoked key. */
export const invalidKeyError = (): ApiError =>
  new ApiError('unauthorized', 'The key is not valid, or not any more: sign in again.')

/** Error of a request without the key that its route requires. */
export const missingKeyError = (): ApiError =>
  new ApiError(
    'unauthorized',
    'This needs a valid key: Authorization: Bearer <key> of POST /v1/auth/token.',
  )

/**
 * The live session of a key, or null. The key is derived from `TOKEN_KEY` and the session's wallet, signing date and
 * nonce. A row that somebody wrote or changed without `TOKEN_KEY` therefore matches no key.
 */
async function findLiveSession(
  key: string,
  { pool, auth }: SessionContext,
): Promise<Session | null> {
  const keyHash = authKeyHash(key)
  const stored = keyHash && (await findSession(pool, keyHash))
  if (!stored) return null
  const wallet = decodeWallet(stored.wallet)
  const issued = authKey(auth.tokenKey, wallet, isoTimestamp(stored.signingMs), stored.nonce)
  // compares hashes, because the time of a comparison with the key itself would reveal the key
  if (!authKeyHash(issued)!.equals(keyHash)) return null
  return { ...stored, type: walletKindOf(wallet.type)!, address: wallet.text, keyHash }
}
