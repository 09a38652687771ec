import { exchangeProofForKey, signingMessage } from '../auth/proof.js'
import { expiredProofExample, proofOfWrongTypeExample } from '../examples.js'
import { NO_STORE, okAnswer } from '../http/answer.js'
import { route } from '../http/route.js'
import { okResponses, z } from '../http/schema.js'
import { SIGN_IN_PRICE } from '../limits/costs.js'
import { keyValidationRoutes, ProofSchema } from '../v1/auth.js'

const message = route.get('/v0.1/auth/message', {
  bad: null,
  costliest: {},
  successor: '/v1/auth/message',
  summary: 'The message that a wallet signs to prove itself',
  responses: okResponses('The message and its date', {
    message: z.string(),
    signingDate: ProofSchema.shape.signingDate,
  }),
  handle: async (_request, context) => okAnswer(await signingMessage(context), NO_STORE),
})

const token = route.post('/v0.1/auth/token', {
  bad: {
    what: 'an address of another kind',
    body: () => proofOfWrongTypeExample,
    error: 'unsupported_address',
  },
  costliest: { what: 'a wrong signature', body: ({ wrongProof }) => wrongProof() },
  example: expiredProofExample,
  aliases: ['/v0.1/auth/key'],
  successor: '/v1/auth/token',
  summary: 'Exchange a signature for an authentication key',
  description: 'Both fields have the same key, which equals the key of v1.',
  body: ProofSchema,
  price: SIGN_IN_PRICE,
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
  message,
  token,
  ...keyValidationRoutes('/v0.1/auth/validate', { successor: '/v1/auth/validate' }),
]
