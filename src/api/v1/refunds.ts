import { paidNameText } from '../../registry/payment/payment.js'
import { txIdText } from '../../registry/primitives/txId.js'
import { transactionJson } from '../families/family.js'
import { FAMILY_INTERFACES } from '../families/index.js'
import { NO_STORE, okAnswer } from '../http/answer.js'
import { route } from '../http/route.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { isoTimestamp } from '../http/timestamps.js'
import { CHAIN_CALL_PRICE } from '../limits/costs.js'
import { type Refund, type Refunds, refundsOfAddress } from '../refunds/refunds.js'
import { addressSchema, walletTypeSchema } from './schemas.js'

const RefundSchema = namedObjectSchema('Refund', {
  owedBy: z.enum(['hub', 'payments']).openapi({
    description:
      '`hub`: what the hub owes for bids that won nothing, paid there in its coin; `payments`: what a payments contract or program owes or holds',
  }),
  network: z.string().nullable().openapi({
    description:
      'Chain on which the money is taken; null for a chain that this deployment does not have',
    example: '8453',
  }),
  token: z.string().describe('`native`, or the address or mint of the token'),
  amount: z.string().describe('Base units'),
  eid: z
    .int()
    .optional()
    .describe(
      'Of a hub’s credit: LayerZero’s id of the chain that the money came from, 0 for the hub’s own',
    ),
  payments: z
    .array(z.object({ tx: z.string(), name: z.string().openapi({ example: 'club/alice' }) }))
    .optional()
    .describe('Payments that it comes from; left out where the chain keeps only their sum'),
  reclaimAfter: z
    .string()
    .optional()
    .describe(
      'Of a payment that is held: from when on its payer may take it back, if nobody decides before',
    ),
  transaction: z
    .union(
      FAMILY_INTERFACES.map(({ family, transaction }) =>
        transaction.extend({ type: z.literal(family.key) }),
      ),
    )
    .optional()
    .describe(
      'To be signed and sent by the address, on `network`; a serialized one within a minute',
    ),
  needsReceiver: z
    .literal(true)
    .optional()
    .describe(
      'The address is a contract, which may not exist on the hub, where the money is paid: ask again with `to`',
    ),
})

const refunds = route.get('/v1/refunds/:address', {
  bad: {
    what: 'a text that is no address',
    params: () => ({ address: 'x' }),
    error: 'unsupported_address',
  },
  costliest: {},
  bounds: {
    'refunds[]': 'page: 100 payments of a kind and 100 tokens; the answer says that there are more',
    'refunds[].payments[]':
      'page: 100 payments of a kind and 100 tokens; the answer says that there are more',
    'unavailable[]':
      'page: 100 payments of a kind and 100 tokens; the answer says that there are more',
  },
  summary: 'What an address is owed, with the transactions that take it',
  description:
    'Credits of the hub for bids that won nothing, credits of refused payments, and payments that nobody has decided, on every chain of the network. Credits first: taking back payments in a token takes the credit in it along.',
  params: z.object({ address: addressSchema }),
  query: z.object({
    to: z
      .string()
      .optional()
      .describe('Receiver of the money on EVM chains; default: the address itself'),
  }),
  price: CHAIN_CALL_PRICE,
  responses: okResponses('What is owed', {
    address: addressSchema,
    type: walletTypeSchema,
    refunds: z.array(RefundSchema),
    unavailable: z
      .array(z.string())
      .describe(
        'Chains that did not answer: their payments are left out, their credits of the hub have no transaction',
      ),
    truncated: z.boolean().describe('There is more, shown once some of this is taken'),
  }),
  errors: ['unsupported_address'],
  handle: async ({ params, query }, context) =>
    okAnswer(
      refundsJson(await refundsOfAddress(context, params.address!, query.get('to'))),
      NO_STORE,
    ),
})

export const refundsJson = ({
  address,
  type,
  refunds: owed,
  unavailable,
  isTruncated,
}: Refunds) => ({
  address,
  type,
  refunds: owed.map(refundView),
  unavailable,
  truncated: isTruncated,
})

/** A refund as the response shows it. Undefined fields are missing in the JSON. */
const refundView = ({ owedBy, network, token, amount, ...refund }: Refund) => ({
  owedBy,
  network,
  token,
  amount: amount.toString(),
  eid: refund.eid,
  payments: paymentsView(refund),
  reclaimAfter: refund.fromMs === null ? undefined : isoTimestamp(refund.fromMs),
  transaction: refund.transaction ? transactionJson(refund.transaction) : undefined,
  needsReceiver: refund.needsReceiver,
})

const paymentsView = ({ payments }: Pick<Refund, 'payments'>) =>
  payments.length === 0
    ? undefined
    : payments.map((payment) => ({ tx: txIdText(payment.tx), name: paidNameText(payment) }))

export const refundRoutes = [refunds]
