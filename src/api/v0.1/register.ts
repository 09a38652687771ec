import type { EvmQuote, SolanaQuote } from '../../chains/chain.js'
import { readAvailability } from '../../db/registry/availability.js'
import { parseClusterName } from '../../registry/primitives/name.js'
import { ok } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { route, routeWithBody } from '../http/route.js'
import { MAX_LOOKUPS, z } from '../http/schema.js'
import { quoteEvm, quoteSolana } from '../names/quote.js'
import {
  EVM_QUOTE_ERRORS,
  EvmTransactionSchema,
  evmTransaction,
  fees,
  quoteRequest,
  Registration,
} from '../v1/register.js'
import { addressText, nameText } from '../v1/schemas.js'
import { statusAnswer, statusRoute } from './status.js'

const tag = 'v0.1 registration'

const AvailabilitySchema = z
  .object({ name: z.string().openapi({ description: 'The name as it was asked' }), isAvailable: z.boolean() })
  .openapi('AvailabilityV01')

/** Availability of each input; a text that is no name is not available. */
async function availabilityOf(context: Context, inputs: readonly string[]) {
  const names = inputs.map(parseClusterName)
  const wellFormed = names.filter((name) => name !== null)
  const availability = await readAvailability(context.pool, context.network, wellFormed)
  let next = 0
  return inputs.map((name, i) => ({ name, isAvailable: names[i] !== null && availability[next++] === 'free' }))
}

const checkOne = route({
  method: 'get',
  path: '/v0.1/register/check/:name',
  deprecated: { successor: '/v1/names/register/check' },
  tag,
  summary: 'Whether a name can be registered',
  params: z.object({ name: nameText }),
  responses: { 200: { description: 'Its availability', schema: AvailabilitySchema } },
  async handle({ params }, context) {
    return ok((await availabilityOf(context, [params.name!]))[0])
  },
})

const checkMany = routeWithBody({
  method: 'post',
  path: '/v0.1/register/check',
  deprecated: { successor: '/v1/names/register/check' },
  tag,
  summary: 'Whether names can be registered',
  description: 'One element per input, in its order; what is no name is not available.',
  body: z.array(nameText).max(MAX_LOOKUPS),
  responses: { 200: { description: 'Availability of each', schema: z.array(AvailabilitySchema) } },
  errors: ['too_many'],
  async handle({ body }, context) {
    return ok(await availabilityOf(context, body))
  },
})

/** Prices of a quote, which both kinds of quotes have. */
const feesSchema = z.object({
  gasToken: z.object({ symbol: z.string(), decimals: z.int() }),
  registrationFee: z.string(),
  bridgeFee: z.string(),
  names: z.array(
    z.object({
      name: z.string(),
      amount: z.string().openapi({ description: 'The bid in the gas token of the source chain' }),
    }),
  ),
})

const SolanaQuoteSchema = feesSchema
  .extend({
    gasToken: z.object({ symbol: z.literal('SOL'), decimals: z.literal('lamports') }),
    transactionData: z
      .array(
        z.object({
          recentBlockhash: z.string(),
          feePayer: z.string(),
          nonceInfo: z.null(),
          instructions: z.array(
            z.object({
              keys: z.array(z.object({ pubkey: z.string(), isSigner: z.boolean(), isWritable: z.boolean() })),
              programId: z.string(),
              data: z.array(z.int()),
            }),
          ),
          signers: z.array(z.string()).max(0),
        }),
      )
      .openapi({ description: 'One unsigned legacy transaction per name, in its order' }),
  })
  .openapi('SolanaQuoteV01')

const EvmQuoteSchema = feesSchema.extend({ transactionData: EvmTransactionSchema }).openapi('QuoteV01')

const register = routeWithBody({
  method: 'post',
  path: '/v0.1/register',
  deprecated: { successor: '/v1/names/register/evm' },
  tag,
  summary: 'Transaction data for registering names',
  body: Registration.extend({
    network: z.string().openapi({ description: 'Label of the chain to pay on', example: '1' }),
    referralAddress: addressText.optional().openapi({ description: 'Who is credited for the registration' }),
  }),
  responses: {
    200: { description: 'The transaction to sign and send', schema: z.union([EvmQuoteSchema, SolanaQuoteSchema]) },
  },
  errors: EVM_QUOTE_ERRORS,
  async handle({ body, isTestnet }, context) {
    const request = quoteRequest(body, isTestnet)
    if (body.network === SOLANA) {
      const quote = await quoteSolana(context, request)
      return ok({ ...feesOf(quote), transactionData: quote.transactions.map(({ json }) => json) })
    }
    const quote = await quoteEvm(context, request)
    return ok({ ...feesOf(quote), transactionData: evmTransaction(quote.transactionData) })
  },
})
/** Network label of both Solana clusters. */
const SOLANA = 'solana'

/** Prices of a quote in the gas token alone. */
function feesOf(quote: EvmQuote | SolanaQuote) {
  const { names, ...rest } = fees(quote)
  return { ...rest, names: names.map(({ name, amount }) => ({ name, amount })) }
}

const status = route({
  ...statusRoute,
  path: '/v0.1/register/tx/:tx',
  tag,
  summary: 'The status of a registration transaction',
  handle: statusAnswer,
})

export const registerRoutes = [checkOne, checkMany, register, status]
