import { exchangeProofForKey, signingMessage } from '../auth/proof.js'
import { NO_STORE, okAnswer } from '../http/answer.js'
import { declareRoute } from '../http/route.js'
import { okResponses, z } from '../http/schema.js'
import { createKeyValidationRoutes, ProofSchema, sharedTokenRouteFields } from '../v1/auth.js'

const messageRoute = declareRoute.get('/v0.1/auth/message', {
  refusedSample: null,
  costliestSample: {},
  successor: '/v1/auth/message',
  summary: 'The message that a wallet signs to prove itself',
  responses: okResponses('The message and its date', {
    message: z.string(),
    signingDate: ProofSchema.shape.signingDate,
  }),
  handle: async (_request, context) => okAnswer(await signingMessage(context), NO_STORE),
})

const tokenRoute = declareRoute.post('/v0.1/auth/token', {
  ...sharedTokenRouteFields,
  aliases: ['/v0.1/auth/key'],
  successor: '/v1/auth/token',
  description: 'Both fields have the same key, which equals the key of v1.',
  body: ProofSchema,
  responses: okResponses('The key', {
    authenticationKey: z.string(),
    token: z.string(),
    isValid: z.literal(true),
  }),
  errors: ['unsupported_address', 'unauthorized'],
  async handle({ body }, context) {
    const key = await exchangeProofForKey(context, body)
    return okAnswer({ authenticationKey: key, token: key, isValid: true }, NO_STORE)
  },
})

export const authRoutes = [
  messageRoute,
  tokenRoute,
  ...createKeyValidationRoutes('/v0.1/auth/validate', { successor: '/v1/auth/validate' }),
]
