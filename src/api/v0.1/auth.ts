import { exchange, signingMessage } from '../auth/proof.js'
import { NO_STORE, ok } from '../http/answer.js'
import { type Route, route, routeWithBody } from '../http/route.js'
import { z } from '../http/schema.js'
import { ProofSchema, validate } from '../v1/auth.js'

const tag = 'v0.1 authentication'

const message = route({
  method: 'get',
  path: '/v0.1/auth/message',
  deprecated: { successor: '/v1/auth/message' },
  tag,
  summary: 'The message that a wallet signs to prove itself',
  responses: {
    200: {
      description: 'The message and its date',
      schema: z.object({ message: z.string(), signingDate: ProofSchema.shape.signingDate }),
    },
  },
  async handle(_request, context) {
    return ok(await signingMessage(context), NO_STORE)
  },
})

const token = routeWithBody({
  method: 'post',
  path: '/v0.1/auth/token',
  aliases: ['/v0.1/auth/key'],
  deprecated: { successor: '/v1/auth/token' },
  tag,
  summary: 'Exchange a signature for an authentication key',
  description: 'The key is the same under both names, and the same as from v1.',
  body: ProofSchema,
  responses: {
    200: {
      description: 'The key',
      schema: z.object({ authenticationKey: z.string(), token: z.string(), isValid: z.literal(true) }),
    },
  },
  errors: ['unsupported_address', 'unauthorized'],
  async handle({ body }, context) {
    const key = await exchange(context, body)
    return ok({ authenticationKey: key, token: key, isValid: true }, NO_STORE)
  },
})

const path = '/v0.1/auth/validate'
const deprecated = { successor: '/v1/auth/validate' }

export const authRoutes: readonly Route[] = [
  message,
  token,
  route({ ...validate, method: 'get', path, tag, deprecated }),
  route({ ...validate, method: 'post', path, tag, deprecated }),
]
