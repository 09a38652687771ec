import {
  BridgeError,
  type ChainPort,
  ChainUnavailableError,
  type MoneyOwedToPayer,
  type OwedMoneyQuery,
} from '../../chains/chain.js'
import { type Credit, findCreditsOfAddress } from '../../db/bridge/credits.js'
import { readFormerPaymentsContracts } from '../../db/outbox/contract.js'
import { findPaidTokens, findPaymentsOwedToPayer } from '../../db/outbox/owed.js'
import { withTimeout } from '../../ops/waiting.js'
import { NATIVE_COIN } from '../../registry/community/rules.js'
import { CHAIN_FAMILY_PROPERTIES, EVM } from '../../registry/families.js'
import { paidNameText } from '../../registry/payment/payment.js'
import { parseAddress, type Wallet } from '../../registry/primitives/address.js'
import { txIdText } from '../../registry/primitives/txId.js'
import { FAMILY_INTERFACES, transactionJson } from '../families/index.js'
import { requireWallet } from '../http/address.js'
import { NO_STORE, okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { declareRoute } from '../http/route.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { isoTimestamp } from '../http/timestamps.js'
import { CHAIN_CALL_PRICE, ROWS_PER_UNIT } from '../limits/costs.js'
import type { WaitingCaller } from '../serving/patience.js'
import { addressSchema, walletTypeSchema } from './schemas.js'

/** Time limit for the answer of one chain, ms. It is much shorter than the deadline of a request. */
const CHAIN_WAIT_MS = 5_000

/** Money that is owed to an address now, or from `fromMs` on unless the payment is decided before that time. */
export interface Refund extends MoneyOwedToPayer {
  /**
   * Debtor. `hub`: the hub owes for bids that won nothing, in its coin. `payments`: a payments contract or program
   * owes.
   */
  owedBy: 'hub' | 'payments'
  /** Label of the chain on which the payee collects the money; null where this deployment does not have the chain. */
  network: string | null
  /** Of hub credits: LayerZero's id of the chain that the money came from, 0 for the hub. */
  eid?: number
  /** Set where the transaction needs a receiver: the address is a contract, which may not exist on the hub. */
  needsReceiver?: true
}

export interface RefundContext extends Pick<Context, 'network' | 'pool'> {
  caller?: Pick<WaitingCaller, 'meter'>
  chains: readonly Pick<ChainPort, 'network' | 'chain' | 'label' | 'role' | 'refunds'>[]
}

/** Result of `refundsOfAddress`: the refunds, and the chains that did not answer. */
export type RefundsAnswer = Awaited<ReturnType<typeof refundsOfAddress>>

/**
 * Money owed to an address on all chains of a network, each amount with the transaction that collects it. A chain that
 * does not answer does not delay the other chains. Before the chains are asked, the caller is charged for the credits
 * that were added up, and one unit for each call. Each token takes a call of each payments contract of its chain.
 * Without a given receiver, each credit from another chain takes a call, since the payee may be a contract there.
 * @param to receiver on EVM chains; default: the address itself
 * @throws ApiError unsupported_address
 */
export async function refundsOfAddress(
  context: RefundContext,
  input: string,
  to: string | undefined,
) {
  const { type, text: address, bytes } = requireWallet(input, 'address')
  const receiver = to === undefined ? null : requireReceiver(type, to)
  const none = { address, type, refunds: [], unavailable: [], isTruncated: false }
  if (!CHAIN_FAMILY_PROPERTIES.some(({ addressType }) => addressType === type)) return none
  const { pool, network } = context
  const [allCredits, payments, tokens, former] = await Promise.all([
    type === EVM.addressType ? findCreditsOfAddress(pool, network, bytes) : [],
    findPaymentsOwedToPayer(pool, network, bytes, Date.now()),
    findPaidTokens(pool, network, bytes),
    readFormerPaymentsContracts(pool, network),
  ])
  const credits = allCredits.filter(({ amountWei }) => amountWei > 0n)
  const payer = { payer: address, to: receiver }
  const questions = owedMoneyQuestions(payments.found, tokens.found, former)
  context.caller?.meter.owe(
    allCredits.reduce((sum, { rows }) => sum + rows, 0) / ROWS_PER_UNIT +
      (receiver ? 0 : credits.filter(({ eid }) => eid !== 0).length) +
      questions.reduce((sum, one) => sum + one.tokens.length * (1 + one.former.length), 0),
  )
  const answers = await Promise.all([
    ...credits.map((credit) => creditRefund(context, credit, payer)),
    ...questions.map((question) => paymentRefunds(context, question, payer)),
  ])
  return {
    address,
    type,
    refunds: answers.flatMap(({ refunds }) => refunds),
    /**
     * Labels of chains that did not answer in time. The payments of these chains are left out, and their hub credits
     * have no transaction.
     */
    unavailable: [...new Set(answers.flatMap(({ unavailable }) => unavailable))],
    isTruncated: payments.isTruncated || tokens.isTruncated,
  }
}

function requireReceiver(type: Wallet['type'], input: string): string {
  const to = parseAddress(input)
  if (type === 'evm' && typeof to !== 'string' && to.type === 'evm') return to.text
  const message =
    type === 'evm' ? 'This is no EVM address.' : 'Only EVM addresses choose a receiver.'
  throw new ApiError('unsupported_address', 'The receiver can not be used.', {
    details: [{ path: 'to', message }],
  })
}

/** Address to which money is owed, and the receiver of the money. */
interface Payer {
  payer: string
  /** Receiver; null for the payer's own address. */
  to: string | null
}

interface RefundsOfChain {
  refunds: readonly Refund[]
  unavailable: readonly string[]
}

async function creditRefund(
  { chains, network }: RefundContext,
  { eid, amountWei }: Credit,
  { payer, to }: Payer,
): Promise<RefundsOfChain> {
  const isOf = ({ role, refunds }: RefundContext['chains'][number]) =>
    eid === 0 ? role === 'hub' : refunds.eid === eid
  const port = chains.find((chain) => chain.network === network && isOf(chain))
  const money = {
    token: NATIVE_COIN,
    amount: amountWei,
    payments: [],
    fromMs: null,
    transaction: null,
  }
  const credit = { ...money, owedBy: 'hub', eid, network: port?.label ?? null } as const
  if (!port?.refunds.withdrawal) return { refunds: [credit], unavailable: [] }
  const transaction = await awaitChain(port.refunds.withdrawal(payer, to))
  if (transaction === undefined) return { refunds: [credit], unavailable: [port.label] }
  const offered = transaction ? { transaction } : { needsReceiver: true as const }
  return { refunds: [{ ...credit, ...offered }], unavailable: [] }
}

type OwedMoneyQuestion = Pick<OwedMoneyQuery, 'tokens' | 'payments' | 'former'> & {
  chain: number
  label: string
}

function owedMoneyQuestions(
  payments: Awaited<ReturnType<typeof findPaymentsOwedToPayer>>['found'],
  tokens: Awaited<ReturnType<typeof findPaidTokens>>['found'],
  former: Awaited<ReturnType<typeof readFormerPaymentsContracts>>,
): OwedMoneyQuestion[] {
  const labels = new Map([
    ...payments.map(({ label, payment }) => [payment.chain, label] as const),
    ...tokens.map(({ chain, label }) => [chain, label] as const),
  ])
  const inOrder = [...labels].sort(([a], [b]) => a - b)
  return inOrder.map(([chain, label]) => ({
    chain,
    label,
    tokens: tokens.filter((one) => one.chain === chain).map(({ token }) => token),
    payments: payments.map(({ payment }) => payment).filter((one) => one.chain === chain),
    former: former.get(chain) ?? [],
  }))
}

async function paymentRefunds(
  context: RefundContext,
  question: OwedMoneyQuestion,
  { payer, to }: Payer,
): Promise<RefundsOfChain> {
  const { chain, label } = question
  const port = context.chains.find((one) => one.network === context.network && one.chain === chain)
  const answer =
    port && (await awaitChain(port.refunds.owed({ ...question, payer, to: to ?? payer })))
  if (!answer) return { refunds: [], unavailable: [label] }
  const owed = answer.map((money) => ({ ...money, owedBy: 'payments', network: label }) as const)
  return { refunds: owed, unavailable: [] }
}

/** Result of a call to a chain; undefined where the chain does not answer in time, or the bridge gives no quote. */
async function awaitChain<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await withTimeout(CHAIN_WAIT_MS, call, undefined)
  } catch (error) {
    if (error instanceof ChainUnavailableError || error instanceof BridgeError) return undefined
    throw error
  }
}

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

const refundsRoute = declareRoute.get('/v1/refunds/:address', {
  costliestSample: {},
  listBounds: {
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
  async handle({ params, query }, context) {
    const owed = await refundsOfAddress(context, params.address!, query.get('to'))
    return okAnswer(refundsJson(owed), NO_STORE)
  },
})

export const refundsJson = ({
  address,
  type,
  refunds: owed,
  unavailable,
  isTruncated,
}: RefundsAnswer) => ({
  address,
  type,
  refunds: owed.map(refundJson),
  unavailable,
  truncated: isTruncated,
})

/** JSON of a refund. Undefined fields are missing in the JSON. */
const refundJson = ({ owedBy, network, token, amount, ...refund }: Refund) => ({
  owedBy,
  network,
  token,
  amount: amount.toString(),
  eid: refund.eid,
  payments: paymentsJson(refund),
  reclaimAfter: refund.fromMs === null ? undefined : isoTimestamp(refund.fromMs),
  transaction: refund.transaction ? transactionJson(refund.transaction) : undefined,
  needsReceiver: refund.needsReceiver,
})

const paymentsJson = ({ payments }: Pick<Refund, 'payments'>) =>
  payments.length === 0
    ? undefined
    : payments.map((payment) => ({ tx: txIdText(payment.tx), name: paidNameText(payment) }))

export const refundRoutes = [refundsRoute]
