import { revokeSession, revokeSessions } from '../../db/auth/sessions.js'
import { KIND_NAMES, KINDS } from '../../registry/auth/kinds.js'
import { exchange, type Signer, signingMessage } from '../auth/proof.js'
import { OWNER, proof, proofOfOtherKind } from '../examples.js'
import { type Answer, NO_STORE, ok } from '../http/answer.js'
import { NO_KEY } from '../http/dearest.js'
import { ApiError, errorAnswer } from '../http/errors.js'
import { type Query, wordOf } from '../http/query.js'
import { type Route, route, type Session } from '../http/route.js'
import { answers, named, z } from '../http/schema.js'
import { isoText } from '../http/timestamps.js'
import { SIGN_IN } from '../limits/costs.js'
import { addressText, walletKind } from './schemas.js'

const signingDate = z.string().openapi({
  description: 'ISO 8601 in milliseconds, as the message gave it; accepted for 10 minutes',
  example: '2026-11-20T08:00:00.000Z',
})

/** Methods of a route that takes no body and accepts both. */
const GET_AND_POST = ['get', 'post'] as const

const messages = GET_AND_POST.map((method) =>
  route[method]('/v1/auth/message', {
    bad: { what: 'a wallet without its type', query: { wallet: OWNER }, error: 'invalid_request' },
    dearest: {},
    example: { query: { type: 'evm', wallet: OWNER } },
    summary: 'The message that a wallet signs to prove itself',
    description:
      'Any wallet signs the plain message. With `wallet` and `type` it is bound to that address (EIP-4361): smart wallets (ERC-1271) have to sign this one. With `recover`, the address of a generated wallet, too, it asks for that wallet’s key (`POST /v1/clusters/generate/wallet/recover`) and signs nobody in.',
    query: z.object({
      wallet: addressText.optional(),
      type: walletKind.optional(),
      recover: addressText.optional().openapi({ example: undefined }),
    }),
    responses: answers('The message and its date', { message: z.string(), signingDate }),
    errors: ['unsupported_address'],
    handle: async ({ query }, context) => ok(signingMessage(context, boundTo(query)), NO_STORE),
  }),
)

/** Wallet to bind the message to. @throws ApiError invalid_request where only one of wallet and type is present */
function boundTo(query: Query): Signer | undefined {
  const wallet = query.get('wallet')
  const type = wordOf(query, 'type', walletKind.options)
  const recovered = query.get('recover')
  if (wallet === undefined && type === undefined && recovered === undefined) return undefined
  if (wallet === undefined || type === undefined)
    throw new ApiError(
      'invalid_request',
      'The parameters wallet and type go together, and recover with both.',
    )
  return { wallet, type, recovered }
}

export const ProofSchema = named('Proof', {
  signature: z.string().openapi({
    description: KIND_NAMES.map((name) => `${name}: ${KINDS[name].form}`).join('; '),
  }),
  signingDate,
  type: walletKind,
  wallet: addressText.describe('The wallet that signed'),
})

const token = route.post('/v1/auth/token', {
  bad: {
    what: 'an address of another kind',
    body: () => proofOfOtherKind,
    error: 'unsupported_address',
  },
  dearest: { what: 'a wrong signature', body: ({ wrongProof }) => wrongProof() },
  example: proof,
  summary: 'Exchange a signature for an authentication key',
  description:
    'The same signature gives the same key. It is sent as `Authorization: Bearer` or `X-AUTH-KEY`.',
  body: ProofSchema,
  price: SIGN_IN,
  countedTogether: 'sign-ins',
  responses: answers('The key', { token: z.string() }),
  errors: ['unsupported_address', 'unauthorized'],
  handle: async ({ body }, context) => ok({ token: await exchange(context, body) }, NO_STORE),
})

/** Routes that both versions of the interface have, with different paths. */
export const validations = (path: string, version: Pick<Route, 'successor'> = {}) =>
  GET_AND_POST.map((method) =>
    route[method](path, {
      bad: NO_KEY,
      privateTo: 'caller',
      ...version,
      dearest: { as: 'other' },
      summary: 'Whether a key is valid, and whose it is',
      auth: 'optional',
      responses: {
        ...answers('It is valid', {
          signature: z.string(),
          signingDate,
          type: walletKind,
          wallet: addressText,
          isValid: z.literal(true),
        }),
        401: {
          description: '`unauthorized`',
          schema: z.object({
            status: z.int(),
            error: z.string(),
            message: z.string(),
            isValid: z.literal(false),
          }),
        },
      },
      handle: async ({ session }) => validationAnswer(session),
    }),
  )

function validationAnswer(session: Session | null): Answer {
  if (!session)
    return errorAnswer(
      new ApiError('unauthorized', 'There is no valid key in this request.', { isValid: false }),
    )
  const { signature, type, address, signingMs } = session
  return ok({
    signature,
    signingDate: isoText(signingMs),
    type,
    wallet: address,
    isValid: true,
  })
}

const revoke = route.delete('/v1/auth/token', {
  bad: { what: 'another text than true', query: { everywhere: 'false' }, error: 'invalid_request' },
  privateTo: null,
  dearest: { as: 'other' },
  summary: 'Revoke the key that is sent, or all of its wallet',
  description: 'For good: its signature gives no key any more.',
  auth: 'required',
  query: z.object({
    everywhere: z.enum(['true']).optional().openapi({
      description:
        'All keys of the wallet end, whoever holds them: for who may have lost one. A signature that nobody has exchanged yet gives one for the rest of its ten minutes',
      example: undefined,
    }),
  }),
  responses: answers('It is revoked', { success: z.literal(true) }),
  async handle({ session, query }, { pool }) {
    if (wordOf(query, 'everywhere', ['true'])) await revokeSessions(pool, session.wallet)
    else await revokeSession(pool, session.keyHash)
    return ok({ success: true })
  },
})

export const authRoutes = [...messages, token, ...validations('/v1/auth/validate'), revoke]
