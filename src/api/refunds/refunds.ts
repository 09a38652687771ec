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
import { withTimeout } from '../../ops/notify.js'
import { NATIVE_COIN } from '../../registry/community/rules.js'
import { CHAIN_FAMILY_PROPERTIES, EVM } from '../../registry/families.js'
import { parseAddress, type Wallet } from '../../registry/primitives/address.js'
import { requireWallet } from '../http/address.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'

/** Longest wait for one chain, well below the deadline of a request. */
const CHAIN_WAIT_MS = 5_000

/** Money that an address is owed, or will be owed from `fromMs` unless its payment is decided before that time. */
export interface Refund extends MoneyOwedToPayer {
  /**
   * Debtor. `hub`: the hub owes for bids that won nothing, in its coin. `payments`: a payments contract or program
   * owes.
   */
  owedBy: 'hub' | 'payments'
  /** Label of the chain on which the payee collects the money; null where this deployment does not have the chain. */
  network: string | null
  /** Hub credits: LayerZero's id of the chain that the money came from, 0 for the hub's own. */
  eid?: number
  /** Set where the transaction needs a receiver: the address is a contract, which may not exist on the hub. */
  needsReceiver?: true
}

export interface RefundContext extends Pick<Context, 'network' | 'pool' | 'now'> {
  chains: readonly Pick<ChainPort, 'network' | 'chain' | 'label' | 'role' | 'refunds'>[]
}

export type Refunds = Awaited<ReturnType<typeof refundsOfAddress>>

/**
 * Money owed to an address on all chains of a network, each with the transaction that takes it. A chain that does not
 * answer does not delay the others.
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
  const [credits, payments, tokens, former] = await Promise.all([
    type === EVM.addressType ? findCreditsOfAddress(pool, network, bytes) : [],
    findPaymentsOwedToPayer(pool, network, bytes, context.now()),
    findPaidTokens(pool, network, bytes),
    readFormerPaymentsContracts(pool, network),
  ])
  const of = { payer: address, to: receiver }
  const questions = questionsOf(payments.found, tokens.found, former)
  const asked = await Promise.all([
    ...credits.map((credit) => creditRefund(context, credit, of)),
    ...questions.map((question) => paymentRefunds(context, question, of)),
  ])
  return {
    address,
    type,
    refunds: asked.flatMap(({ refunds }) => refunds),
    /**
     * Labels of chains that did not answer in time. Their payments are left out, and their hub credits have no
     * transaction.
     */
    unavailable: [...new Set(asked.flatMap(({ unavailable }) => unavailable))],
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

interface Answered {
  refunds: readonly Refund[]
  unavailable: readonly string[]
}

async function creditRefund(
  { chains, network }: RefundContext,
  { eid, amountWei }: Credit,
  { payer, to }: Payer,
): Promise<Answered> {
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
  const transaction = await answerOf(port.refunds.withdrawal(payer, to))
  if (transaction === undefined) return { refunds: [credit], unavailable: [port.label] }
  const offered = transaction ? { transaction } : { needsReceiver: true as const }
  return { refunds: [{ ...credit, ...offered }], unavailable: [] }
}

type Question = Pick<OwedMoneyQuery, 'tokens' | 'payments' | 'former'> & {
  chain: number
  label: string
}

function questionsOf(
  payments: Awaited<ReturnType<typeof findPaymentsOwedToPayer>>['found'],
  tokens: Awaited<ReturnType<typeof findPaidTokens>>['found'],
  former: Awaited<ReturnType<typeof readFormerPaymentsContracts>>,
): Question[] {
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
  question: Question,
  { payer, to }: Payer,
): Promise<Answered> {
  const { chain, label } = question
  const port = context.chains.find((one) => one.network === context.network && one.chain === chain)
  const answer =
    port && (await answerOf(port.refunds.owed({ ...question, payer, to: to ?? payer })))
  if (!answer) return { refunds: [], unavailable: [label] }
  const owed = answer.map((money) => ({ ...money, owedBy: 'payments', network: label }) as const)
  return { refunds: owed, unavailable: [] }
}

/** Result of a call to a chain; undefined where the chain does not answer in time. */
async function answerOf<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await withTimeout(CHAIN_WAIT_MS, asked, undefined)
  } catch (error) {
    if (error instanceof ChainUnavailableError || error instanceof BridgeError) return undefined
    throw error
  }
}
