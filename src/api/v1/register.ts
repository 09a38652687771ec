import { readAvailability } from '../../db/registry/availability.js'
import { parseClusterName } from '../../registry/primitives/name.js'
import { ok } from '../http/answer.js'
import { routeWithBody } from '../http/route.js'
import { MAX_CHANGES, MAX_LOOKUPS, z } from '../http/schema.js'
import { requireNames } from '../names/names.js'
import { AMOUNT_SYNONYMS, amountOf, quoteEvm, quoteSolana } from '../names/quote.js'
import { addressText, clusterIdText, nameText } from './schemas.js'

const tag = 'Registration'

const check = routeWithBody({
  method: 'post',
  path: '/v1/names/register/check',
  tag,
  summary: 'Whether names can be registered',
  description:
    'One element per input, in its order. A name with an unconfirmed bid is not available: `reason: "pending"`.',
  body: z.array(nameText).max(MAX_LOOKUPS),
  responses: {
    200: {
      description: 'Availability of each name',
      schema: z.array(
        z
          .object({
            name: z.string().openapi({ description: 'The name as it was asked' }),
            isAvailable: z.boolean(),
            reason: z.enum(['pending']).optional(),
          })
          .openapi('Availability'),
      ),
    },
  },
  errors: ['invalid_name', 'too_many'],
  async handle({ body, network }, context) {
    const names = requireNames(body, parseClusterName, (i) => `[${i}]`)
    const availability = await readAvailability(context.pool, network, names)
    return ok(
      body.map((name, i) => ({
        name,
        isAvailable: availability[i] === 'free',
        ...(availability[i] === 'pending' ? { reason: 'pending' } : {}),
      })),
    )
  },
})

const amount = z.unknown().openapi({
  type: 'string',
  pattern: '^(0|[1-9][0-9]{0,77})$',
  description:
    'What the bid is worth on the hub in wei of ETH; default 0.01 ETH. One of its names at most may be used.',
  example: '10000000000000000',
})
/** An element's amount, under each of its names. */
export const amounts = Object.fromEntries(AMOUNT_SYNONYMS.map((name) => [name, amount.optional()])) as Record<
  (typeof AMOUNT_SYNONYMS)[number],
  z.ZodOptional<typeof amount>
>

const QuoteSchema = z
  .object({
    type: z.literal('evm'),
    gasToken: z.object({ symbol: z.string(), decimals: z.int() }),
    transactionData: z.object({ to: z.string(), data: z.string(), value: z.string() }),
    registrationFee: z.string().openapi({ description: 'Smallest unit of the gas token' }),
    bridgeFee: z.string().openapi({ description: 'Smallest unit of the gas token; "0" on the hub' }),
    names: z.array(
      z.object({
        name: z.string(),
        amountWei: z.string().openapi({ description: 'What the bid is worth on the hub, ETH wei' }),
        amount: z.string().openapi({ description: 'The same in the gas token of the source chain' }),
      }),
    ),
  })
  .openapi('EvmQuote')

const evm = routeWithBody({
  method: 'post',
  path: '/v1/names/register/evm',
  aliases: ['/v1/register/evm'],
  tag,
  summary: 'Transaction data for registering names from an EVM chain',
  body: z.object({
    network: z
      .string()
      .openapi({ description: 'Label of the chain to pay on; it also selects the testnet', example: '1' }),
    sender: addressText,
    names: z
      .array(z.object({ name: nameText, ...amounts }))
      .min(1)
      .max(MAX_CHANGES),
    referralClusterId: clusterIdText.optional(),
  }),
  responses: { 200: { description: 'The transaction to sign and send', schema: QuoteSchema } },
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
    const { network, sender, referralClusterId } = body
    const names = body.names.map((element, i) => ({ name: element.name, amount: amountOf(element, `names[${i}]`) }))
    const quote = await quoteEvm(context, { network, sender, names, referralClusterId, isTestnet })
    const { to, data, value } = quote.transactionData
    return ok({
      type: 'evm',
      gasToken: quote.gasToken,
      transactionData: { to, data, value: value.toString() },
      registrationFee: quote.registrationFee.toString(),
      bridgeFee: quote.bridgeFee.toString(),
      names: quote.names.map((name) => ({
        name: name.name,
        amountWei: name.amountWei.toString(),
        amount: name.amount.toString(),
      })),
    })
  },
})

const SolanaQuoteSchema = z
  .object({
    type: z.literal('solana'),
    gasToken: z.object({ symbol: z.literal('SOL'), decimals: z.literal('lamports') }),
    transactionData: z
      .array(z.string())
      .openapi({ description: 'One unsigned transaction a name, in its order: serialized, base64' }),
    registrationFee: z.string().openapi({ description: 'Lamports' }),
    bridgeFee: z.string().openapi({ description: 'Lamports: what the relay costs the hub' }),
    names: z.array(
      z.object({
        name: z.string(),
        amountWei: z.string().openapi({ description: 'What the bid is worth on the hub, ETH wei' }),
        amount: z.string().openapi({ description: 'The same in lamports' }),
      }),
    ),
  })
  .openapi('SolanaQuote')

const solana = routeWithBody({
  method: 'post',
  path: '/v1/names/register/solana',
  aliases: ['/v1/register/solana'],
  tag,
  summary: 'Transactions for registering names on Solana',
  description:
    'One transaction a name, each to be signed by the sender and paid within minutes. A payment that comes too late fails on chain.',
  body: z.object({
    network: z.string().openapi({ description: 'solana; testnet=true selects the testnet', example: 'solana' }),
    sender: addressText,
    names: z
      .array(z.object({ name: nameText, ...amounts }))
      .min(1)
      .max(MAX_CHANGES),
    referralClusterId: clusterIdText.optional(),
  }),
  responses: { 200: { description: 'The transactions to sign and send', schema: SolanaQuoteSchema } },
  errors: [
    'invalid_name',
    'invalid_amount',
    'unsupported_network',
    'unsupported_address',
    'invalid_sender',
    'too_many',
    'names_unavailable',
  ],
  async handle({ body, isTestnet }, context) {
    const { network, sender, referralClusterId } = body
    const names = body.names.map((element, i) => ({ name: element.name, amount: amountOf(element, `names[${i}]`) }))
    const quote = await quoteSolana(context, { network, sender, names, referralClusterId, isTestnet })
    return ok({
      type: 'solana',
      gasToken: quote.gasToken,
      transactionData: quote.transactions.map(({ base64 }) => base64),
      registrationFee: quote.registrationFee.toString(),
      bridgeFee: quote.bridgeFee.toString(),
      names: quote.names.map((name) => ({
        name: name.name,
        amountWei: name.amountWei.toString(),
        amount: name.amount.toString(),
      })),
    })
  },
})

export const registerRoutes = [check, evm, solana]
