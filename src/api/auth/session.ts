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
const NO_KEY = new Set(['', 'undefined', 'null'])

/** Dependencies of the check of a key. */
type KeyReader = Pick<Context, 'pool' | 'auth'>

/** Raw headers, because Node's `headers` keeps only the first of two headers with the same name. */
type Headers = Pick<IncomingMessage, 'rawHeaders'>

/**
 * The key of a request, from `Authorization: Bearer` or `X-AUTH-KEY`; undefined where there is none. Other
 * authorization schemes are ignored.
 * @throws ApiError invalid_request for two different keys
 */
function keyOf({ rawHeaders }: Headers): string | undefined {
  const keys = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const value = rawHeaders[i + 1]
    const bearer = name === 'authorization' ? /^bearer +(.*)$/i.exec(value ?? '')?.[1] : undefined
    const key = given(name === 'x-auth-key' ? value : bearer)
    if (key !== undefined) keys.add(key)
  }
  if (keys.size > 1)
    throw new ApiError(
      'invalid_request',
      'Authorization and X-AUTH-KEY carry two different keys: send one.',
    )
  return [...keys][0]
}

function given(text: string | undefined): string | undefined {
  const key = text?.trim()
  return key === undefined || NO_KEY.has(key) ? undefined : key
}

/**
 * The session of a request, by its route's authentication rule.
 * @returns null where the route has no rule, or with `optional` and no valid key
 * @throws ApiError unauthorized where a key is required and no valid key was sent; invalid_request for two keys
 */
export async function authenticate(
  request: Headers,
  rule: AuthRule,
  context: KeyReader,
): Promise<Session | null> {
  if (!rule) return null
  const key = keyOf(request)
  const session = key === undefined ? null : await sessionOf(key, context)
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
 * The live session of a key, or null. The key follows from `TOKEN_KEY`, the wallet, the signing date and the nonce, so a row that
 * was written or changed without `TOKEN_KEY` opens nothing.
 */
async function sessionOf(key: string, { pool, auth }: KeyReader): Promise<Session | null> {
  const keyHash = authKeyHash(key)
  const stored = keyHash && (await findSession(pool, keyHash))
  if (!stored) return null
  const wallet = decodeWallet(stored.wallet)
  const issued = authKey(auth.tokenKey, wallet, isoTimestamp(stored.signingMs), stored.nonce)
  // compares hashes, because the time of a comparison with the key itself would reveal the key
  if (!authKeyHash(issued)!.equals(keyHash)) return null
  return { ...stored, type: walletKindOf(wallet.type)!, address: wallet.text, keyHash }
}
