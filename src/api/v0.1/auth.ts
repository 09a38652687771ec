import { exchange, signingMessage } from '../auth/proof.js'
import { proof, proofOfOtherKind } from '../examples.js'
import { NO_STORE, ok } from '../http/answer.js'
import { route } from '../http/route.js'
import { answers, z } from '../http/schema.js'
import { SIGN_IN } from '../limits/costs.js'
import { ProofSchema, validations } from '../v1/auth.js'

const message = route.get('/v0.1/auth/message', {
  bad: null,
  dearest: {},
  successor: '/v1/auth/message',
  summary: 'The message that a wallet signs to prove itself',
  responses: answers('The message and its date', {
    message: z.string(),
    signingDate: ProofSchema.shape.signingDate,
  }),
  handle: async (_request, context) => ok(signingMessage(context), NO_STORE),
})

const token = route.post('/v0.1/auth/token', {
  bad: {
    what: 'an address of another kind',
    body: () => proofOfOtherKind,
    error: 'unsupported_address',
  },
  dearest: { what: 'a wrong signature', body: ({ wrongProof }) => wrongProof() },
  example: proof,
  aliases: ['/v0.1/auth/key'],
  successor: '/v1/auth/token',
  summary: 'Exchange a signature for an authentication key',
  description: 'The key is the same under both names, and the same as from v1.',
  body: ProofSchema,
  price: SIGN_IN,
  countedTogether: 'sign-ins',
  responses: answers('The key', {
    authenticationKey: z.string(),
    token: z.string(),
    isValid: z.literal(true),
  }),
  errors: ['unsupported_address', 'unauthorized'],
  async handle({ body }, context) {
    const key = await exchange(context, body)
    return ok({ authenticationKey: key, token: key, isValid: true }, NO_STORE)
  },
})

export const authRoutes = [
  message,
  token,
  ...validations('/v0.1/auth/validate', { successor: '/v1/auth/validate' }),
]
