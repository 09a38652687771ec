import { parseTxId } from '../../registry/primitives/txId.js'
import { EXAMPLE_OWNER, registrationExample } from '../examples.js'
import { FAMILY_INTERFACES, familyInterfaceOf } from '../families/index.js'
import { solanaFamilyInterface } from '../families/solana.js'
import { type Answer, NO_STORE, okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { isNetworkDeployed } from '../http/freshness.js'
import { declareRoute, type RouteRequest } from '../http/route.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { CHAIN_CALL_COST, CHAIN_CALL_PRICE } from '../limits/costs.js'
import { availabilityOfTexts } from '../names/names.js'
import { isStatusInJournal, readTxStatus } from '../status/status.js'
import {
  commonQuoteJson,
  quoteErrors,
  quoteOfRequest,
  quoteSamples,
  RegistrationBodySchema,
} from '../v1/quotes.js'
import { sharedCheckRouteFields, TX_STATUSES, unusedStatusUnits } from '../v1/register.js'
import { addressSchema, nameSchema, txIdSchema } from '../v1/schemas.js'

const AvailabilitySchema = namedObjectSchema('AvailabilityV01', {
  name: z.string().openapi({ description: 'The name as in the request' }),
  isAvailable: z.boolean(),
})

/**
 * Response with the availability of names. A text that is not a name is not available. On a network that is not
 * deployed no name is available.
 * @param isOne the response is an object for the only input, instead of a list
 */
async function checkAnswer(
  context: Context,
  inputs: readonly string[],
  isOne = false,
): Promise<Answer> {
  const availability = (await isNetworkDeployed(context))
    ? await availabilityOfTexts(context, inputs)
    : []
  const each = inputs.map((name, i) => ({ name, isAvailable: availability[i] === 'free' }))
  return okAnswer(isOne ? each[0] : each)
}

const checkOneRoute = declareRoute.get('/v0.1/register/check/:name', {
  refusedSample: null,
  costliestSample: {},
  cacheSource: 'facts',
  successor: '/v1/names/register/check',
  summary: 'Whether a name can be registered',
  params: z.object({ name: nameSchema }),
  responses: okResponses('Its availability', AvailabilitySchema),
  errors: ['catching_up'],
  handle: ({ params }, context) => checkAnswer(context, [params.name!], true),
})

const checkManyRoute = declareRoute.post('/v0.1/register/check', {
  ...sharedCheckRouteFields,
  successor: '/v1/names/register/check',
  interfaceNotes: 'A text that is no name is not available.',
  description: 'One element per input, in order. A malformed name is not available.',
  responses: okResponses('Availability of each', z.array(AvailabilitySchema)),
  handle: ({ body }, context) => checkAnswer(context, body),
})

/** Schemas of the fields that quotes of all families have. */
const quoteFieldSchemas = {
  registrationFee: z.string(),
  bridgeFee: z.string(),
  names: z.array(
    z.object({
      name: z.string(),
      amount: z.string().openapi({ description: 'The bid in the gas token of the source chain' }),
    }),
  ),
}

const registerRoute = declareRoute.post('/v0.1/register', {
  // samples of Solana's quotes, which are the most expensive quotes
  ...quoteSamples(solanaFamilyInterface),
  example: registrationExample('1', EXAMPLE_OWNER),
  listBounds: Object.assign(
    { 'names[]': 'asked: 100' },
    ...FAMILY_INTERFACES.map(({ v01 }) => v01.listBounds),
  ),
  successor: '/v1/names/register/evm',
  summary: 'Transaction data for registering names',
  interfaceNotes:
    'With the network `solana`, `gasToken.decimals` is the text `lamports`, `transactionData` a list of transactions, and `expiresAt` is there.',
  body: RegistrationBodySchema.extend({
    network: z.string().openapi({ description: 'Label of the chain to pay on', example: '1' }),
    referralAddress: addressSchema.optional().describe('Who is credited for the registration'),
  }),
  price: {
    text: FAMILY_INTERFACES.map(({ family, price }) =>
      family.label === null ? price.text : `on ${family.name} ${price.text}`,
    ).join('; '),
    of: (query, body) => familyInterfaceOf(networkInBody(body)).price.of(query, body),
  },
  responses: okResponses(
    'The transaction to sign and send',
    z.union(
      FAMILY_INTERFACES.map(({ v01 }) =>
        namedObjectSchema(v01.schemaName, { ...quoteFieldSchemas, ...v01.schemas }),
      ),
    ),
  ),
  errors: quoteErrors(FAMILY_INTERFACES),
  async handle(request, context) {
    const { family, v01 } = familyInterfaceOf(request.body.network)
    const quote = await quoteOfRequest(context, request, family)
    const { names, ...prices } = commonQuoteJson(quote)
    const withoutWei = names.map(({ name, amount }) => ({ name, amount }))
    return okAnswer({ ...prices, names: withoutWei, ...v01.ownFields(quote) })
  },
})

/** The network in a body that has not been validated yet. */
const networkInBody = (body: unknown): string =>
  String((body as { network?: unknown } | null)?.network)

/** Fields that both status routes of v0.1 have in common. */
export const sharedTxStatusRouteFields = {
  cacheSource: 'journal' as const,
  successor: '/v1/names/register/tx/:tx',
  description: 'A text that is neither a transaction hash nor a signature is not found.',
  price: CHAIN_CALL_PRICE,
  params: z.object({ tx: txIdSchema }),
  responses: okResponses(
    'Its status',
    z.object({ tx: z.string(), status: z.enum(TX_STATUSES) }).openapi('TransactionStatusV01'),
  ),
}

/**
 * Response with only the status of a transaction: `not_found` for a text that is not a transaction id, and on a
 * network that is not deployed.
 */
export async function txStatusAnswer({ params }: RouteRequest, context: Context): Promise<Answer> {
  const tx = params.tx!
  const id = parseTxId(tx)
  const txStatus = id && (await isNetworkDeployed(context)) ? await readTxStatus(context, id) : null
  return {
    ...okAnswer({ tx, status: txStatus?.status ?? 'not_found' }, NO_STORE),
    unspent: txStatus ? unusedStatusUnits(txStatus) : CHAIN_CALL_COST - 1,
    isTransient: txStatus === null || !isStatusInJournal(tx, txStatus),
  }
}

const statusRoute = declareRoute.get('/v0.1/register/tx/:tx', {
  refusedSample: null,
  costliestSample: {},
  ...sharedTxStatusRouteFields,
  summary: 'The status of a registration transaction',
  handle: txStatusAnswer,
})

export const registrationRoutes = [checkOneRoute, checkManyRoute, registerRoute, statusRoute]
