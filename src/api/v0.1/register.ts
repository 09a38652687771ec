import type { EvmQuote, SolanaQuote } from '../../chains/chain.js'
import { readAvailability } from '../../db/registry/availability.js'
import { parseClusterName } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import { NO_STORE, ok } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { route, routeWithBody } from '../http/route.js'
import { MAX_CHANGES, MAX_LOOKUPS, z } from '../http/schema.js'
import { amountOf, quoteEvm, quoteSolana } from '../names/quote.js'
import { statusOf } from '../status/signatureStatus.js'
import { parseTxId } from '../status/txId.js'
import { amounts } from '../v1/register.js'
import { addressText, nameText } from '../v1/schemas.js'

const tag = 'v0.1 registration'

const AvailabilitySchema = z
  .object({ name: z.string().openapi({ description: 'The name as it was asked' }), isAvailable: z.boolean() })
  .openapi('AvailabilityV01')

/** Whether each of these can be registered; what is no name can not. */
async function availabilityOf(context: Context, network: Network, inputs: readonly string[]) {
  const names = inputs.map(parseClusterName)
  const wellFormed = names.filter((name) => name !== null)
  const availability = await readAvailability(context.pool, network, wellFormed)
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
  async handle({ params, network }, context) {
    return ok((await availabilityOf(context, network, [params.name!]))[0])
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
  async handle({ body, network }, context) {
    return ok(await availabilityOf(context, network, body))
  },
})

const namesSchema = z.array(
  z.object({
    name: z.string(),
    amount: z.string().openapi({ description: 'The bid in the gas token of the source chain' }),
  }),
)

const SolanaQuoteSchema = z
  .object({
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
      .openapi({ description: 'One unsigned legacy transaction a name, in its order' }),
    registrationFee: z.string(),
    bridgeFee: z.string(),
    names: namesSchema,
  })
  .openapi('SolanaQuoteV01')

const QuoteSchema = z
  .object({
    gasToken: z.object({ symbol: z.string(), decimals: z.int() }),
    transactionData: z.object({ to: z.string(), data: z.string(), value: z.string() }),
    registrationFee: z.string(),
    bridgeFee: z.string(),
    names: namesSchema,
  })
  .openapi('QuoteV01')

const register = routeWithBody({
  method: 'post',
  path: '/v0.1/register',
  deprecated: { successor: '/v1/names/register/evm' },
  tag,
  summary: 'Transaction data for registering names',
  body: z.object({
    network: z.string().openapi({ description: 'Label of the chain to pay on', example: '1' }),
    sender: addressText,
    names: z
      .array(z.object({ name: nameText, ...amounts }))
      .min(1)
      .max(MAX_CHANGES),
    referralAddress: addressText.optional().openapi({ description: 'Who is credited for the registration' }),
  }),
  responses: {
    200: { description: 'The transaction to sign and send', schema: z.union([QuoteSchema, SolanaQuoteSchema]) },
  },
  errors: [
    'invalid_name',
    'invalid_amount',
    'unsupported_network',
    'unsupported_address',
    'invalid_sender',
    'watch_only',
    'too_many',
    'names_unavailable',
    'bridge_failure',
  ],
  async handle({ body, isTestnet }, context) {
    const { network, sender, referralAddress } = body
    const names = body.names.map((element, i) => ({ name: element.name, amount: amountOf(element, `names[${i}]`) }))
    const request = { network, sender, names, referralAddress, isTestnet }
    if (network === SOLANA) {
      const quote = await quoteSolana(context, request)
      return ok({ ...feesOf(quote), transactionData: quote.transactions.map(({ json }) => json) })
    }
    const quote = await quoteEvm(context, request)
    const { to, data, value } = quote.transactionData
    return ok({ ...feesOf(quote), transactionData: { to, data, value: value.toString() } })
  },
})
/** Network label of the interface. */
const SOLANA = 'solana'

/** What both kinds of quotes tell beside their transactions. */
const feesOf = (quote: EvmQuote | SolanaQuote) => ({
  gasToken: quote.gasToken,
  registrationFee: quote.registrationFee.toString(),
  bridgeFee: quote.bridgeFee.toString(),
  names: quote.names.map(({ name, amount }) => ({ name, amount: amount.toString() })),
})

const status = route({
  method: 'get',
  path: '/v0.1/register/tx/:tx',
  deprecated: { successor: '/v1/names/register/tx/:tx' },
  tag,
  summary: 'The status of a registration transaction',
  description: 'What is neither a transaction hash nor a signature is not found.',
  params: z.object({ tx: z.string() }),
  responses: {
    200: {
      description: 'Its status',
      schema: z
        .object({
          tx: z.string(),
          status: z.enum(['not_found', 'pending', 'bridging', 'invalid', 'lost_bid', 'finalized']),
        })
        .openapi('TransactionStatusV01'),
    },
  },
  async handle({ params, network }, context) {
    const tx = params.tx!
    const id = parseTxId(tx)
    const known = id && (await statusOf(context, network, id))
    return ok({ tx, status: known?.status ?? 'not_found' }, NO_STORE)
  },
})

export const registerRoutes = [checkOne, checkMany, register, status]
