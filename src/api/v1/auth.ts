import { revokeSession } from '../../db/auth/sessions.js'
import { exchange, signingMessage } from '../auth/proof.js'
import { type Answer, NO_STORE, ok } from '../http/answer.js'
import { ApiError, errorAnswer } from '../http/errors.js'
import { type Query, wordOf } from '../http/query.js'
import type { Session } from '../http/route.js'
import { type Route, route, routeWithBody } from '../http/route.js'
import { z } from '../http/schema.js'
import { addressText, addressType } from './schemas.js'

const tag = 'Authentication'

const signingDate = z.string().openapi({
  description: 'ISO 8601 in milliseconds, as the message gave it; accepted for 10 minutes',
  example: '2026-11-20T08:00:00.000Z',
})

const message = {
  path: '/v1/auth/message',
  tag,
  summary: 'The message that a wallet signs to prove itself',
  description:
    'Any wallet signs the plain message. With `wallet` and `type` it is bound to that address (EIP-4361): smart wallets (ERC-1271) have to sign this one.',
  query: z.object({ wallet: addressText.optional(), type: addressType.optional() }),
  responses: {
    200: { description: 'The message and its date', schema: z.object({ message: z.string(), signingDate }) },
  },
  errors: ['unsupported_address'],
  async handle({ query }, context) {
    return ok(await signingMessage(context, boundTo(query)), NO_STORE)
  },
} satisfies Omit<Route, 'method'>

/** The wallet to bind the message to. @throws ApiError invalid_request for a wallet without type, or the reverse */
function boundTo(query: Query) {
  const wallet = query.get('wallet')
  const type = wordOf(query, 'type', addressType.options)
  if (wallet === undefined && type === undefined) return undefined
  if (wallet === undefined || type === undefined)
    throw new ApiError('invalid_request', 'The parameters wallet and type go together.')
  return { wallet, type }
}

export const ProofSchema = z
  .object({
    signature: z.string().openapi({
      description: 'evm: 65 bytes in 0x hex (personal_sign); solana: 64 bytes in 0x hex, base58 or base64',
    }),
    signingDate,
    type: addressType,
    wallet: addressText.openapi({ description: 'The wallet that signed' }),
  })
  .openapi('Proof')

const token = routeWithBody({
  method: 'post',
  path: '/v1/auth/token',
  tag,
  summary: 'Exchange a signature for an authentication key',
  description: 'The same signature gives the same key. It is sent as `Authorization: Bearer` or `X-AUTH-KEY`.',
  body: ProofSchema,
  responses: { 200: { description: 'The key', schema: z.object({ token: z.string() }) } },
  errors: ['unsupported_address', 'unauthorized'],
  async handle({ body }, context) {
    return ok({ token: await exchange(context, body) }, NO_STORE)
  },
})

const validation = z.object({ signature: z.string(), signingDate, type: addressType, wallet: addressText })

/** Route in both versions of the interface, which differ in its path. */
export const validate = {
  path: '/v1/auth/validate',
  tag,
  summary: 'Whether a key is valid, and whose it is',
  auth: 'optional',
  responses: {
    200: { description: 'It is valid', schema: validation.extend({ isValid: z.literal(true) }) },
    401: {
      description: '`unauthorized`',
      schema: z.object({ status: z.int(), error: z.string(), message: z.string(), isValid: z.literal(false) }),
    },
  },
  handle: async ({ session }) => validationAnswer(session),
} satisfies Omit<Route, 'method'>

/** Answer to the validation of a key. */
function validationAnswer(session: Session | null): Answer {
  if (!session)
    return errorAnswer(new ApiError('unauthorized', 'There is no valid key in this request.', { isValid: false }))
  const { signature, type, address, signingMs } = session
  return ok({ signature, signingDate: new Date(signingMs).toISOString(), type, wallet: address, isValid: true })
}

const revoke = route({
  method: 'delete',
  path: '/v1/auth/token',
  tag,
  summary: 'Revoke the key that is sent',
  description: 'For good: its signature gives no key any more.',
  auth: 'required',
  responses: { 200: { description: 'It is revoked', schema: z.object({ success: z.literal(true) }) } },
  async handle({ session }, context) {
    await revokeSession(context.pool, session.keyHash, context.now())
    return ok({ success: true })
  },
})

export const authRoutes: readonly Route[] = [
  route({ method: 'get', ...message }),
  route({ method: 'post', ...message }),
  token,
  route({ method: 'get', ...validate }),
  route({ method: 'post', ...validate }),
  revoke,
]
