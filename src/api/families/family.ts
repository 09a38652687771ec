import type { ChainPort, RegistrationQuote, UnsignedTransaction } from '../../chains/chain.js'
import type { ChainFamily } from '../../registry/families.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { registrationExample } from '../examples.js'
import { okAnswer } from '../http/answer.js'
import type { ErrorCode } from '../http/errors.js'
import { type Route, type RoutePrice, route } from '../http/route.js'
import { type PickSampleAddress, sampleQuoteBody } from '../http/sampleRequests.js'
import { MAX_CHANGES_OF_REQUEST, okResponses, z } from '../http/schema.js'
import {
  BID_AMOUNT_FIELD_NAMES,
  bidAmountOf,
  type QuoteOfPort,
  quoteRegistrationOnChain,
} from '../names/quote.js'
import { addressSchema, clusterIdSchema, nameSchema } from '../v1/schemas.js'

/** How a version of the HTTP interface (v1 or v0.1) shows a family's quotes. */
interface QuoteForm<Port extends ChainPort> {
  readonly schema: z.ZodType
  /** Why each list in the family's own fields is bounded, as in `Route.bounds`. */
  readonly bounds?: Route['bounds']
  /** Fields that only quotes of this family have. */
  ownFields(quote: QuoteOfPort<Port>): object
}

/** The API's code for one chain family: its quotes, and the transactions that its wallets sign. */
export interface FamilyInterface<Port extends ChainPort = ChainPort>
  extends Pick<Route, 'summary' | 'beyond' | 'description'> {
  readonly family: ChainFamily
  isOf(port: ChainPort): port is Port
  /** Network label and wallet in the example of a quote. */
  readonly example: readonly [label: string, wallet: string]
  /** Network label of the family's testnet in sample requests. */
  readonly testnet: string
  /** Payer of sample requests. */
  readonly sender: PickSampleAddress
  /** Maximum number of names in one quote. */
  readonly maxNames: number
  readonly price: RoutePrice
  readonly errors: readonly ErrorCode[]
  readonly v1: QuoteForm<Port>
  readonly v01: QuoteForm<Port>
  /** A transaction to sign, without its type. */
  readonly transaction: z.ZodObject
  /** Token approvals, sent before the transaction that pays for a community's name. */
  readonly approvals: z.ZodRawShape
}

/** The v1 route of a family's quotes. */
export const quoteRoute = ({
  family,
  example,
  testnet,
  sender,
  maxNames,
  v1,
  ...form
}: FamilyInterface): Route =>
  route.post(`/v1/names/register/${family.key}`, {
    bad: {
      what: '101 names',
      body: sampleQuoteBody(testnet, sender, MAX_CHANGES_OF_REQUEST + 1),
      error: 'too_many',
    },
    costliest: { what: `${maxNames} names`, body: sampleQuoteBody(testnet, sender, maxNames) },
    example: registrationExample(...example),
    bounds: { ...v1.bounds, 'names[]': `asked: ${maxNames}` },
    aliases: [`/v1/register/${family.key}`],
    summary: form.summary,
    beyond: form.beyond,
    description: form.description,
    price: form.price,
    body: RegistrationBody.extend({
      network: z.string().openapi({
        description: `Label of the chain to pay on; ${family.label === null ? 'it also' : 'testnet=true'} selects the testnet`,
        example: example[0],
      }),
      referralClusterId: clusterIdSchema.optional(),
    }),
    responses: okResponses('The quote, with the transactions to sign and send', v1.schema),
    errors: form.errors,
    async handle({ body, isTestnet }, context) {
      const quote = await quoteRegistrationOnChain(
        context,
        quoteRequestFromBody(body, isTestnet),
        form.isOf,
      )
      const referral = quote.referral && toHex(quote.referral)
      return okAnswer({
        type: family.key,
        ...commonQuoteJson(quote),
        referral,
        ...v1.ownFields(quote),
      })
    },
  })

const amount = z.unknown().openapi({
  type: 'string',
  pattern: '^(0|[1-9][0-9]{0,77})$',
  description:
    'Value of the bid on the hub in wei of ETH; default 0.01 ETH. At most one of the field’s names may be used.',
  example: '10000000000000000',
})
/** Schema of the bid amount of a name, once for each accepted field name. */
const amounts = Object.fromEntries(
  BID_AMOUNT_FIELD_NAMES.map((name) => [name, amount.optional()]),
) as Record<(typeof BID_AMOUNT_FIELD_NAMES)[number], z.ZodOptional<typeof amount>>

/** Body of a registration. Each route adds its network and its referral. */
export const RegistrationBody = z.object({
  sender: addressSchema,
  names: z
    .array(z.object({ name: nameSchema, ...amounts }))
    .min(1)
    .max(MAX_CHANGES_OF_REQUEST),
})

export const quoteRequestFromBody = <Body extends z.output<typeof RegistrationBody>>(
  body: Body,
  isTestnet: boolean,
) => ({
  ...body,
  names: body.names.map((element, i) => ({
    name: element.name,
    amount: bidAmountOf(element, `names[${i}]`),
  })),
  isTestnet,
})

export const QUOTE_ERRORS = [
  'invalid_name',
  'invalid_amount',
  'unsupported_network',
  'unsupported_address',
  'invalid_sender',
  'too_many',
  'names_unavailable',
  'catching_up',
] as const satisfies readonly ErrorCode[]
export const EVM_QUOTE_ERRORS = [...QUOTE_ERRORS, 'watch_only', 'bridge_failure'] as const

type Call = Extract<UnsignedTransaction, { to: unknown }>

/** A contract call as responses show it, its value in decimal digits. */
export const contractCallJson = ({ to, data, value }: Omit<Call, 'type'>) => ({
  to,
  data,
  value: String(value),
})

export const transactionJson = (transaction: UnsignedTransaction) =>
  'to' in transaction
    ? { type: transaction.type, ...contractCallJson(transaction) }
    : { type: transaction.type, data: transaction.data }

/** Schema of the fields that quotes of all families have, except the coin. */
export const quoteFields = {
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

/** Schema of the fields that v0.1's quotes of all families have. */
export const quoteFieldsV01 = {
  registrationFee: z.string(),
  bridgeFee: z.string(),
  names: z.array(
    z.object({
      name: z.string(),
      amount: z.string().openapi({ description: 'The bid in the gas token of the source chain' }),
    }),
  ),
}

/** The fields of the response that quotes of all families have. */
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
