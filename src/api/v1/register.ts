import type { EvmQuote, SolanaQuote } from '../../chains/chain.js'
import { readAvailability } from '../../db/registry/availability.js'
import { parseClusterName } from '../../registry/primitives/name.js'
import { ok } from '../http/answer.js'
import type { ErrorCode } from '../http/errors.js'
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
  async handle({ body }, context) {
    const names = requireNames(body, parseClusterName, (i) => `[${i}]`)
    const availability = await readAvailability(context.pool, context.network, names)
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
/** The amount of an element, under each of its names. */
const amounts = Object.fromEntries(AMOUNT_SYNONYMS.map((name) => [name, amount.optional()])) as Record<
  (typeof AMOUNT_SYNONYMS)[number],
  z.ZodOptional<typeof amount>
>

/** Body of a registration, which each route extends by its network and its referral. */
export const Registration = z.object({
  sender: addressText,
  names: z
    .array(z.object({ name: nameText, ...amounts }))
    .min(1)
    .max(MAX_CHANGES),
})

/** Request of a quote: the body with one amount per name. */
export const quoteRequest = <Body extends z.output<typeof Registration>>(body: Body, isTestnet: boolean) => ({
  ...body,
  names: body.names.map((element, i) => ({ name: element.name, amount: amountOf(element, `names[${i}]`) })),
  isTestnet,
})

/** Errors of a quote on any chain. */
const QUOTE_ERRORS = [
  'invalid_name',
  'invalid_amount',
  'unsupported_network',
  'unsupported_address',
  'invalid_sender',
  'too_many',
  'names_unavailable',
] as const satisfies readonly ErrorCode[]
/** Errors of a quote on an EVM chain. */
export const EVM_QUOTE_ERRORS = [...QUOTE_ERRORS, 'watch_only', 'bridge_failure'] as const

export const EvmTransactionSchema = z.object({ to: z.string(), data: z.string(), value: z.string() })

/** An EVM transaction with its value in decimal digits. */
export const evmTransaction = ({ to, data, value }: EvmQuote['transactionData']) => ({
  to,
  data,
  value: value.toString(),
})

/** Prices of a quote on any chain. */
export const fees = (quote: EvmQuote | SolanaQuote) => ({
  gasToken: quote.gasToken,
  registrationFee: quote.registrationFee.toString(),
  bridgeFee: quote.bridgeFee.toString(),
  names: quote.names.map(({ name, amountWei, amount }) => ({
    name,
    amountWei: amountWei.toString(),
    amount: amount.toString(),
  })),
})

const registrationFee = z.string().openapi({ description: 'Smallest unit of the gas token' })
const quotedNames = z.array(
  z.object({
    name: z.string(),
    amountWei: z.string().openapi({ description: 'What the bid is worth on the hub, ETH wei' }),
    amount: z.string().openapi({ description: 'The same in the smallest unit of the gas token of the source chain' }),
  }),
)

const EvmQuoteSchema = z
  .object({
    type: z.literal('evm'),
    gasToken: z.object({ symbol: z.string(), decimals: z.int() }),
    transactionData: EvmTransactionSchema,
    registrationFee,
    bridgeFee: z.string().openapi({ description: 'Smallest unit of the gas token; "0" on the hub' }),
    names: quotedNames,
  })
  .openapi('EvmQuote')

const evm = routeWithBody({
  method: 'post',
  path: '/v1/names/register/evm',
  aliases: ['/v1/register/evm'],
  tag,
  summary: 'Transaction data for registering names from an EVM chain',
  body: Registration.extend({
    network: z
      .string()
      .openapi({ description: 'Label of the chain to pay on; it also selects the testnet', example: '1' }),
    referralClusterId: clusterIdText.optional(),
  }),
  responses: { 200: { description: 'The transaction to sign and send', schema: EvmQuoteSchema } },
  errors: EVM_QUOTE_ERRORS,
  async handle({ body, isTestnet }, context) {
    const quote = await quoteEvm(context, quoteRequest(body, isTestnet))
    return ok({ type: 'evm', transactionData: evmTransaction(quote.transactionData), ...fees(quote) })
  },
})

const SolanaQuoteSchema = z
  .object({
    type: z.literal('solana'),
    gasToken: z.object({ symbol: z.literal('SOL'), decimals: z.literal('lamports') }),
    transactionData: z
      .array(z.string())
      .openapi({ description: 'One unsigned transaction per name, in its order: serialized, base64' }),
    registrationFee,
    bridgeFee: z.string().openapi({ description: 'Lamports: what the relay costs the hub' }),
    names: quotedNames,
  })
  .openapi('SolanaQuote')

const solana = routeWithBody({
  method: 'post',
  path: '/v1/names/register/solana',
  aliases: ['/v1/register/solana'],
  tag,
  summary: 'Transactions for registering names on Solana',
  description:
    'One transaction per name, each to be signed by the sender and paid within minutes. A payment that comes too late fails on chain.',
  body: Registration.extend({
    network: z.string().openapi({ description: 'solana; testnet=true selects the testnet', example: 'solana' }),
    referralClusterId: clusterIdText.optional(),
  }),
  responses: { 200: { description: 'The transactions to sign and send', schema: SolanaQuoteSchema } },
  errors: QUOTE_ERRORS,
  async handle({ body, isTestnet }, context) {
    const quote = await quoteSolana(context, quoteRequest(body, isTestnet))
    return ok({ type: 'solana', transactionData: quote.transactions.map(({ base64 }) => base64), ...fees(quote) })
  },
})

export const registerRoutes = [check, evm, solana]
