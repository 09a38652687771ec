import type { RegistrationQuote } from '../../chains/chain.js'
import type { ChainFamily } from '../../registry/families.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { registrationExample } from '../examples.js'
import type { FamilyInterface } from '../families/family.js'
import { FAMILY_INTERFACES } from '../families/index.js'
import { okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError, type ErrorCode } from '../http/errors.js'
import { declareRoute, type Route, type RouteRequest } from '../http/route.js'
import { sampleQuoteBody } from '../http/sampleRequests.js'
import { MAX_CHANGES_OF_REQUEST, namedObjectSchema, okResponses, z } from '../http/schema.js'
import { quoteRegistrationOnChain, type WithReferral } from '../names/quote.js'
import { addressSchema, clusterIdSchema, nameSchema } from './schemas.js'

/** Field names that clients use for an amount. */
const AMOUNT_FIELDS = ['amountWei', 'weiAmount', 'bidAmountWei', 'bidWeiAmount'] as const

const amountSchema = z.unknown().openapi({
  type: 'string',
  pattern: '^(0|[1-9][0-9]{0,77})$',
  description:
    'Value of the bid on the hub in wei of ETH; default 0.01 ETH. At most one of the field’s names may be used.',
  example: '10000000000000000',
})
/** Schema of the bid amount of a name, once for each accepted field name. */
const amountSchemas = Object.fromEntries(
  AMOUNT_FIELDS.map((name) => [name, amountSchema.optional()]),
) as Record<(typeof AMOUNT_FIELDS)[number], z.ZodOptional<typeof amountSchema>>

const namedAmountSchema = z.object({ name: nameSchema, ...amountSchemas })

/** Body of a registration. Each route adds its fields for the network and the referral. */
export const RegistrationBodySchema = z.object({
  sender: addressSchema,
  names: z.array(namedAmountSchema).min(1).max(MAX_CHANGES_OF_REQUEST),
})

/**
 * Raw amount of a name in a request, if any. @throws ApiError invalid_amount if several of the amount's field names are
 * set
 */
function amountOf(element: z.output<typeof namedAmountSchema>, path: string): unknown {
  const given = AMOUNT_FIELDS.filter((name) => element[name] !== undefined)
  if (given.length > 1) {
    const message = `Only one of ${given.join(', ')} may be given.`
    throw new ApiError('invalid_amount', message, { details: [{ path, message }] })
  }
  return given[0] && element[given[0]]
}

type QuoteRequestBody = z.output<typeof RegistrationBodySchema> & { network: string }

/** The quote for the body of a request. @throws as `quoteRegistrationOnChain` */
export function quoteOfRequest(
  context: Context,
  { body, isTestnet }: Pick<RouteRequest<QuoteRequestBody>, 'body' | 'isTestnet'>,
  family: ChainFamily,
): Promise<WithReferral<RegistrationQuote>> {
  const names = body.names.map((element, i) => ({
    name: element.name,
    amount: amountOf(element, `names[${i}]`),
  }))
  return quoteRegistrationOnChain(context, { ...body, names, isTestnet }, family)
}

/** Errors of quotes of all families. */
const COMMON_QUOTE_ERRORS = [
  'invalid_name',
  'invalid_amount',
  'unsupported_network',
  'unsupported_address',
  'invalid_sender',
  'too_many',
  'names_unavailable',
  'catching_up',
] as const satisfies readonly ErrorCode[]

/** Errors of quotes of the given families. */
export const quoteErrors = (families: readonly FamilyInterface[]): ErrorCode[] => [
  ...COMMON_QUOTE_ERRORS,
  ...families.flatMap(({ errors }) => errors),
]

/** Schemas of the fields that quotes of all families have, except the gas token. */
const quoteFieldSchemas = {
  registrationFee: z.string().openapi({ description: 'Smallest unit of the gas token' }),
  names: z.array(
    z.object({
      name: z.string(),
      amountWei: z.string().openapi({ description: 'Value of the bid on the hub, wei of ETH' }),
      amount: z.string().openapi({
        description: 'The same value in the smallest unit of the source chain’s gas token',
      }),
    }),
  ),
  referral: clusterIdSchema.nullable().openapi({
    description: 'The credited cluster; null where none was named or its id is unknown',
  }),
}

/** JSON of the fields that quotes of all families have. */
export const commonQuoteJson = (quote: RegistrationQuote) => ({
  gasToken: quote.gasToken,
  registrationFee: quote.registrationFee.toString(),
  bridgeFee: quote.bridgeFee.toString(),
  names: quote.names.map(({ name, amountWei, amount }) => ({
    name,
    amountWei: `${amountWei}`,
    amount: `${amount}`,
  })),
})

/** Sample requests of a family's quotes, for the tests of all routes. */
export const quoteSamples = ({
  testnet,
  sender,
  maxNames,
}: FamilyInterface): Pick<Route, 'costliestSample'> & {
  refusedSample: NonNullable<Route['refusedSample']>
} => ({
  refusedSample: {
    what: '101 names',
    body: sampleQuoteBody(testnet, sender, MAX_CHANGES_OF_REQUEST + 1),
    error: 'too_many',
  },
  costliestSample: { what: `${maxNames} names`, body: sampleQuoteBody(testnet, sender, maxNames) },
})

function createQuoteRoute(form: FamilyInterface): Route {
  const { family, example, maxNames, v1 } = form
  const type = z.literal(family.key)
  const schema = namedObjectSchema(v1.schemaName, { ...quoteFieldSchemas, type, ...v1.schemas })
  return declareRoute.post(`/v1/names/register/${family.key}`, {
    ...quoteSamples(form),
    example: registrationExample(...example),
    listBounds: { ...v1.listBounds, 'names[]': `asked: ${maxNames}` },
    aliases: [`/v1/register/${family.key}`],
    summary: form.summary,
    interfaceNotes: form.interfaceNotes,
    description: form.description,
    price: form.price,
    body: RegistrationBodySchema.extend({
      network: z.string().openapi({
        description: `Label of the chain to pay on; ${family.label === null ? 'it also' : 'testnet=true'} selects the testnet`,
        example: example[0],
      }),
      referralClusterId: clusterIdSchema.optional(),
    }),
    responses: okResponses('The quote, with the transactions to sign and send', schema),
    errors: quoteErrors([form]),
    async handle(request, context) {
      const quote = await quoteOfRequest(context, request, family)
      const referral = quote.referral && toHex(quote.referral)
      return okAnswer({
        type: family.key,
        ...commonQuoteJson(quote),
        referral,
        ...v1.ownFields(quote),
      })
    },
  })
}

export const quoteRoutes = FAMILY_INTERFACES.map(createQuoteRoute)
