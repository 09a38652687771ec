import { EnsRequestError } from '../ens/error.js'
import { ok } from './http/answer.js'
import type { Context } from './http/context.js'
import { ApiError } from './http/errors.js'
import { route } from './http/route.js'
import { answers, z } from './http/schema.js'
import { ENS } from './limits/costs.js'
import { pagesOf } from './names/metadata.js'
import { addressText } from './v1/schemas.js'

const asked = z.object({
  sender: addressText,
  data: z
    .string()
    .openapi({ description: 'The call of resolve(bytes,bytes)', example: '0x9061b923' }),
})

async function answered(
  context: Context,
  { sender = '', data = '' }: Partial<z.output<typeof asked>>,
) {
  const { ens, batches } = context
  if (!ens) throw new ApiError('not_found', 'No ENS name is served here.')
  const pages = { pagesOf: (name: string) => pagesOf(context, name) }
  const lookups = {
    mainnet: { ...batches.mainnet, ...pages },
    testnet: { ...batches.testnet, ...pages },
  }
  const signed = await ens({ sender, data }, lookups).catch((error: unknown) => {
    throw error instanceof EnsRequestError ? new ApiError('invalid_request', error.message) : error
  })
  return ok({ data: signed })
}

const about = {
  summary: 'What a name below an ENS name resolves to, signed',
  responses: answers('The answer, for the callback of the resolver', { data: z.string() }),
  errors: ['not_found'] as const,
  price: ENS,
}

/** Routes of the ENS gateway, as ERC-3668 clients call them: with a URL, or with a body. */
export const ensRoutes = [
  route.get('/ens/:sender/:data.json', {
    bad: {
      what: 'a text that is no call',
      params: () => ({ data: 'x' }),
      error: 'invalid_request',
    },
    example: { status: 400 },
    ...about,
    dearest: {},
    params: asked,
    handle: ({ params }, context) => answered(context, params),
  }),
  route.post('/ens', {
    bad: {
      what: 'a text that is no call',
      body: ({ owner }) => ({ sender: owner, data: 'x' }),
      error: 'invalid_request',
    },
    example: { status: 400 },
    ...about,
    dearest: { body: ({ owner, ensCall }) => ({ sender: owner, data: ensCall() }) },
    body: asked,
    handle: ({ body }, context) => answered(context, body),
  }),
]
