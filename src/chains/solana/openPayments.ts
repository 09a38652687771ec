import { PublicKey, SYSVAR_CLOCK_PUBKEY, type TransactionInstruction } from '@solana/web3.js'
import type { Payment } from '../../registry/payment/payment.js'
import {
  type MoneyOwedToPayer,
  type OwedMoneyQuery,
  type RefundPort,
  rethrowAsUnavailable,
} from '../chain.js'
import { transientError } from '../rpc/errors.js'
import type { RpcCall } from '../rpc/nodes.js'
import type { SolanaRpc } from '../rpc/solana.js'
import {
  type CommunityPaymentAccount,
  createCommunityPaymentInstructions,
} from './community/program.js'
import { encodeUnsignedTransaction } from './quote.js'
import {
  type AccountReadOptions,
  readAccount,
  readLatestBlockhash,
  readRegistrarAccounts,
} from './reads.js'
import type { PaymentAccount, RegistrarClient } from './registrar.js'
import { createTokenAccountInstruction, WALLET_COMMITMENT } from './tokens.js'

/** Account of a payment whose money is still in the program. A payment for a name on the hub is always held. */
type OpenPaymentAccount = (PaymentAccount & { state: 'held' }) | CommunityPaymentAccount

/**
 * Reads the accounts of payments, for names on the hub and for community names, in the order of `payments`. Null for a
 * payment whose money was paid out, even if a later payment has an account at the same address.
 * @throws RpcError transient for a node that has not reached `minSlot`
 */
export async function readOpenPayments(
  call: RpcCall,
  registrar: RegistrarClient,
  payments: readonly Pick<Payment, 'payer' | 'sequence' | 'target'>[],
  at: AccountReadOptions,
): Promise<(OpenPaymentAccount | null)[]> {
  const program = createCommunityPaymentInstructions(registrar)
  const addresses = payments.map(({ payer: stored, target }) => {
    const payer = new PublicKey(stored.subarray(1))
    return target.kind === 'name'
      ? registrar.payment({ payer, quoteId: target.quoteId })
      : program.paymentAccount({ payer, number: target.number })
  })
  const accounts = await readRegistrarAccounts(call, registrar, addresses, at)
  return payments.map(({ sequence, target }, i) => {
    const data = accounts[i]
    if (!data) return null
    const account: OpenPaymentAccount =
      target.kind === 'name'
        ? { ...registrar.decodePayment(data), state: 'held' }
        : program.decodePayment(data)
    return account.sequence === BigInt(sequence) ? account : null
  })
}

/** Offset in bytes of the Unix time (i64) in the clock account, after slot, epoch start, epoch and leader epoch. */
const CLOCK_TIME_OFFSET = 32

export const createRefundPort = (rpc: SolanaRpc, registrar: RegistrarClient): RefundPort => ({
  owed: (question) =>
    rethrowAsUnavailable(`chain "${rpc.label}"`, () =>
      rpc.onOneNode((call) => owedByRegistrar(call, registrar, question)),
    ),
})

/**
 * Money that the registrar owes to a payer: open payments that the payer can withdraw now, each with its transaction,
 * and held payments, each with the time from which the payer can withdraw the payment.
 */
async function owedByRegistrar(
  call: RpcCall,
  registrar: RegistrarClient,
  { payments }: Pick<OwedMoneyQuery, 'payments'>,
): Promise<MoneyOwedToPayer[]> {
  const [accounts, nowMs, { blockhash }] = await Promise.all([
    readOpenPayments(call, registrar, payments, { commitment: WALLET_COMMITMENT }),
    readClockMs(call),
    readLatestBlockhash(call, WALLET_COMMITMENT),
  ])
  return payments.flatMap((payment, i): MoneyOwedToPayer[] => {
    const account = accounts[i]
    if (!account || account.state === 'released') return []
    const owed = { ...payment.money, payments: [payment] }
    const fromMs = Number(account.reclaimableAt) * 1_000
    if (account.state === 'held' && fromMs > nowMs) return [{ ...owed, fromMs, transaction: null }]
    const instructions = withdrawalInstructions(registrar, account)
    const data = encodeUnsignedTransaction(account.payer, blockhash, ...instructions)
    return [{ ...owed, fromMs: null, transaction: { type: 'solana', data } }]
  })
}

/**
 * Instructions that withdraw a payment. For a payment in tokens, the first instruction creates the payer's token
 * account if the account does not exist.
 */
function withdrawalInstructions(
  registrar: RegistrarClient,
  account: OpenPaymentAccount,
): TransactionInstruction[] {
  if ('quoteId' in account) return [registrar.reclaim(account)]
  const { payer, token } = account
  const claim = createCommunityPaymentInstructions(registrar).claim(payer, account)
  return [...(token ? [createTokenAccountInstruction(payer, payer, token)] : []), claim]
}

/** Time in the chain's clock account, ms: the program compares its deadlines with this time. */
async function readClockMs(call: RpcCall): Promise<number> {
  const options = { commitment: WALLET_COMMITMENT } as const
  const { value } = await readAccount(call, SYSVAR_CLOCK_PUBKEY, options)
  const data = Buffer.from(value?.data[0] ?? '', 'base64')
  if (data.length < CLOCK_TIME_OFFSET + 8)
    throw transientError('getAccountInfo: the node shows no clock')
  return Number(data.readBigInt64LE(CLOCK_TIME_OFFSET)) * 1_000
}
