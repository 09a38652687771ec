import { revokeSession, revokeSessions } from '../../db/auth/sessions.js'
import { WALLET_KIND_NAMES, WALLET_KINDS } from '../../registry/auth/kinds.js'
import { exchangeProofForKey, type MessageSigner, signingMessage } from '../auth/proof.js'
import { EXAMPLE_OWNER, expiredProofExample, proofOfWrongTypeExample } from '../examples.js'
import { type Answer, NO_STORE, okAnswer } from '../http/answer.js'
import { ApiError, errorAnswer } from '../http/errors.js'
import { enumParameter, type RequestQuery, wholeNumberParameter } from '../http/query.js'
import { declareRoute, type Route, type Session } from '../http/route.js'
import type { SampleData } from '../http/sampleRequests.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { isoTimestamp } from '../http/timestamps.js'
import { SIGN_IN_PRICE } from '../limits/costs.js'
import { addressSchema, walletKindSchema } from './schemas.js'

const signingDateSchema = z.string().openapi({
  description: 'ISO 8601 with milliseconds, as in the message; accepted for 10 minutes',
  example: '2026-11-20T08:00:00.000Z',
})

export const chainIdSchema = z.int().positive().openapi({
  description:
    'evm: EIP-155 id of the mainnet chain that the message names, where it is not the hub’s',
  example: undefined,
})

export const nonceSchema = z.string().openapi({
  description:
    'Secret share in the message: 16 to 64 random letters, digits, `-` and `_`. Required where the signature is an approval on chain (`0x`)',
  example: undefined,
})
const signedClusterSchema = z
  .string()
  .describe('Id or name of the cluster to which the signature says that its wallet belongs')

/** Methods of a route that takes no body and accepts GET and POST. */
const GET_AND_POST = ['get', 'post'] as const

const messageRoutes = GET_AND_POST.map((method) =>
  declareRoute[method]('/v1/auth/message', {
    refusedSample: {
      what: 'a wallet without its type',
      query: { wallet: EXAMPLE_OWNER },
      error: 'invalid_request',
    },
    costliestSample: {},
    example: { query: { type: 'evm', wallet: EXAMPLE_OWNER } },
    summary: 'The message that a wallet signs to prove itself',
    description:
      'Any wallet can sign the plain message. With `wallet` and `type` the message is bound to that address (EIP-4361). Smart wallets (ERC-1271, ERC-6492) have to sign the bound message; that of `chainId` names another mainnet chain than the hub, which checks the signature unless the wallet has code on the hub. With `recover`, the address of a generated wallet, the message requests that wallet’s key (`POST /v1/clusters/generate/wallet/recover`) and cannot be used to sign in. With `cluster` (`testnet=true` for one of the testnet) the message says that the wallet belongs to that cluster, and that its signature will be public.',
    query: z.object({
      wallet: addressSchema.optional(),
      type: walletKindSchema.optional(),
      recover: addressSchema.optional().openapi({ example: undefined }),
      chainId: chainIdSchema.optional(),
      nonce: nonceSchema.optional(),
      cluster: signedClusterSchema.optional().openapi({ example: undefined }),
    }),
    responses: okResponses('The message and its date', {
      message: z.string(),
      signingDate: signingDateSchema,
    }),
    errors: ['unsupported_address', 'unsupported_network', 'invalid_name', 'not_found'],
    handle: async ({ query }, context) =>
      okAnswer(
        await signingMessage(context, messageSignerOf(query), query.get('cluster')),
        NO_STORE,
      ),
  }),
)

/**
 * Wallet to which the message is bound; undefined for the plain message.
 * @throws ApiError invalid_request where the query needs both wallet and type, and one is missing
 */
function messageSignerOf(query: RequestQuery): MessageSigner | undefined {
  const wallet = query.get('wallet')
  const type = enumParameter(query, 'type', walletKindSchema.options)
  const recovered = query.get('recover')
  const chainId = wholeNumberParameter(query, 'chainId')
  const nonce = query.get('nonce')
  if ([wallet, type, recovered, chainId, nonce].every((value) => value === undefined))
    return undefined
  if (wallet === undefined || type === undefined)
    throw new ApiError(
      'invalid_request',
      'The parameters wallet and type go together, and recover, chainId and nonce with both.',
    )
  return { wallet, type, recovered, chainId, nonce }
}

export const ProofSchema = namedObjectSchema('Proof', {
  signature: z.string().openapi({
    description: WALLET_KIND_NAMES.map((name) => `${name}: ${WALLET_KINDS[name].form}`).join('; '),
  }),
  signingDate: signingDateSchema,
  type: walletKindSchema,
  wallet: addressSchema.describe('The wallet that signed'),
})

/** Fields that the token routes of v1 and v0.1 have in common. */
export const sharedTokenRouteFields = {
  refusedSample: {
    what: 'an address of another kind',
    body: () => proofOfWrongTypeExample,
    error: 'unsupported_address' as const,
  },
  costliestSample: {
    what: 'a wrong signature',
    body: ({ wrongProof }: SampleData) => wrongProof(),
  },
  example: expiredProofExample,
  summary: 'Exchange a signature for an authentication key',
  price: SIGN_IN_PRICE,
}

const tokenRoute = declareRoute.post('/v1/auth/token', {
  ...sharedTokenRouteFields,
  description:
    'The same signature gives the same key. Send the key as `Authorization: Bearer` or `X-AUTH-KEY`. With `cluster`, `POST /v1/clusters/verify/{clusterId}` within 11 minutes of the signing date publishes the signature.',
  body: ProofSchema.extend({
    chainId: chainIdSchema.optional(),
    nonce: nonceSchema.optional(),
    cluster: signedClusterSchema.optional(),
  }),
  responses: okResponses('The key', { token: z.string() }),
  errors: [
    'unsupported_address',
    'unsupported_network',
    'unauthorized',
    'invalid_name',
    'not_found',
  ],
  handle: async ({ body }, context) =>
    okAnswer({ token: await exchangeProofForKey(context, body) }, NO_STORE),
})

/** Routes that report whether a key is valid. v1 and v0.1 have the same routes under different paths. */
export const createKeyValidationRoutes = (path: string, version: Pick<Route, 'successor'> = {}) =>
  GET_AND_POST.map((method) =>
    declareRoute[method](path, {
      privateDataFor: 'caller',
      ...version,
      costliestSample: { as: 'other' },
      summary: 'Whether a key is valid, and its wallet',
      auth: 'optional',
      responses: {
        ...okResponses('It is valid', {
          signature: z.string(),
          signingDate: signingDateSchema,
          type: walletKindSchema,
          wallet: addressSchema,
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
  return okAnswer({
    signature,
    signingDate: isoTimestamp(signingMs),
    type,
    wallet: address,
    isValid: true,
  })
}

const revokeKeyRoute = declareRoute.delete('/v1/auth/token', {
  refusedSample: {
    what: 'another text than true',
    query: { everywhere: 'false' },
    error: 'invalid_request',
  },
  privateDataFor: null,
  costliestSample: { as: 'other' },
  summary: 'Revoke the key of the request, or all keys of its wallet',
  description: 'A revoked key is invalid for good, and its signature gives no key again.',
  auth: 'required',
  query: z.object({
    everywhere: z.enum(['true']).optional().openapi({
      description:
        'Revokes all keys of the wallet, in case one was lost. A signature that was not exchanged yet still gives a key until its ten minutes are over',
      example: undefined,
    }),
  }),
  responses: okResponses('It is revoked', { success: z.literal(true) }),
  async handle({ session, query }, { pool }) {
    if (enumParameter(query, 'everywhere', ['true'])) await revokeSessions(pool, session.wallet)
    else await revokeSession(pool, session.keyHash)
    return okAnswer({ success: true })
  },
})

export const authRoutes = [
  ...messageRoutes,
  tokenRoute,
  ...createKeyValidationRoutes('/v1/auth/validate'),
  revokeKeyRoute,
]
