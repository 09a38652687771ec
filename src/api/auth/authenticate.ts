import type { IncomingHttpHeaders } from 'node:http'
import { findSession, type StoredSession } from '../../db/auth/sessions.js'
import { authKeyHash } from '../../registry/auth/key.js'
import { type Address, decodeAddress } from '../../registry/primitives/address.js'
import type { Answer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import type { AuthRule } from '../http/route.js'

/** Who sends a request: a wallet that proved itself, on both networks. */
export interface Session extends Pick<Address, 'type'>, StoredSession {
  /** The wallet's stored form: type byte and raw address. */
  wallet: Buffer
  /** The wallet as answers show it. */
  address: string
  /** What the session is found by. */
  keyHash: Buffer
}

/** A client that holds no key may send the header all the same. */
const NO_KEY = new Set(['', 'undefined', 'null'])

/**
 * The key of a request, undefined where it has none: `Authorization: Bearer` or `X-AUTH-KEY`. Other schemes are no key.
 * @throws ApiError invalid_request for two different keys
 */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = given(/^bearer +(.*)$/i.exec(headers.authorization ?? '')?.[1])
  const header = headers['x-auth-key']
  const own = given(Array.isArray(header) ? header.join() : header)
  if (bearer !== undefined && own !== undefined && bearer !== own)
    throw new ApiError('invalid_request', 'Authorization and X-AUTH-KEY carry two different keys: send one.')
  return bearer ?? own
}

function given(text: string | undefined): string | undefined {
  const key = text?.trim()
  return key === undefined || NO_KEY.has(key) ? undefined : key
}

/**
 * Who sends a request with these headers, as far as the route asks.
 * @returns null where the route doesn't ask or, `optional`, where no valid key was sent
 * @throws ApiError unauthorized where a key is required and none, or none that is valid, was sent; invalid_request for two keys
 */
export async function authenticate(
  headers: IncomingHttpHeaders,
  rule: AuthRule,
  context: Pick<Context, 'pool' | 'now'>,
): Promise<Session | null> {
  if (!rule) return null
  const key = keyOf(headers)
  const session = key === undefined ? null : await sessionOf(key, context)
  if (!session && rule === 'required')
    throw new ApiError(
      'unauthorized',
      key === undefined
        ? 'This needs a key: Authorization: Bearer <key> of POST /v1/auth/token.'
        : 'The key is not valid, or not any more: sign in again.',
    )
  return session
}

async function sessionOf(key: string, { pool, now }: Pick<Context, 'pool' | 'now'>): Promise<Session | null> {
  const keyHash = authKeyHash(key)
  const stored = keyHash && (await findSession(pool, keyHash, now()))
  if (!stored) return null
  const { type, text } = decodeAddress(stored.wallet)
  return { ...stored, type, address: text, keyHash }
}

const VARY = { vary: 'Authorization, X-AUTH-KEY' } as const
const PRIVATE = { ...VARY, 'cache-control': 'private, no-store' } as const

/**
 * Tells caches that an answer depends on the key, and that one made for a key is for nobody else.
 * @param isPublic nothing in it was made for whoever asked
 */
export const markForCaches = (rule: AuthRule, isPublic: boolean, answer: Answer): Answer =>
  rule ? { ...answer, headers: { ...answer.headers, ...(isPublic ? VARY : PRIVATE) } } : answer
