import { EnsRequestError } from '../ens/error.js'
import type { EnsGateway } from '../ens/gateway.js'
import { okAnswer } from './http/answer.js'
import type { Context } from './http/context.js'
import { ApiError } from './http/errors.js'
import { declareRoute } from './http/route.js'
import { okResponses, z } from './http/schema.js'
import { ENS_PRICE } from './limits/costs.js'
import { nameUrls } from './names/names.js'
import { addressSchema } from './v1/schemas.js'

const gatewayCallSchema = z.object({
  sender: addressSchema,
  data: z
    .string()
    .openapi({ description: 'The call of resolve(bytes,bytes)', example: '0x9061b923' }),
})

async function gatewayAnswer(
  ens: EnsGateway | null,
  siteUrl: string,
  { lookups }: Context,
  { sender = '', data = '' }: Partial<z.output<typeof gatewayCallSchema>>,
) {
  if (!ens) throw new ApiError('not_found', 'No ENS name is served here.')
  const pages = { pagesOf: (name: string) => nameUrls(siteUrl, name) }
  const reads = {
    mainnet: { ...lookups.mainnet, ...pages },
    testnet: { ...lookups.testnet, ...pages },
  }
  const signed = await ens({ sender, data }, reads).catch((error: unknown) => {
    throw error instanceof EnsRequestError ? new ApiError('invalid_request', error.message) : error
  })
  return okAnswer({ data: signed })
}

const sharedEnsRouteFields = {
  summary: 'The signed answer of a look-up below an ENS name',
  responses: okResponses('The answer, for the callback of the resolver', { data: z.string() }),
  errors: ['not_found'] as const,
  price: ENS_PRICE,
}

/**
 * Routes of the ENS gateway for ERC-3668 clients: GET with the data in the URL, or POST with the data in a body.
 * @param ens null where no ENS name is served
 */
export const ensRoutes = (ens: EnsGateway | null, siteUrl: string) => [
  declareRoute.get('/ens/:sender/:data.json', {
    refusedSample: {
      what: 'a text that is no call',
      params: () => ({ data: 'x' }),
      error: 'invalid_request',
    },
    example: { status: 400 },
    ...sharedEnsRouteFields,
    costliestSample: {},
    params: gatewayCallSchema,
    handle: ({ params }, context) => gatewayAnswer(ens, siteUrl, context, params),
  }),
  declareRoute.post('/ens', {
    refusedSample: {
      what: 'a text that is no call',
      body: ({ owner }) => ({ sender: owner, data: 'x' }),
      error: 'invalid_request',
    },
    example: { status: 400 },
    ...sharedEnsRouteFields,
    costliestSample: { body: ({ owner, ensCall }) => ({ sender: owner, data: ensCall() }) },
    body: gatewayCallSchema,
    handle: ({ body }, context) => gatewayAnswer(ens, siteUrl, context, body),
  }),
]
