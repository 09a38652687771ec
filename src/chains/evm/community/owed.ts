import type { Hex } from 'viem'
import {
  type CommunityNameTarget,
  isPaymentForCommunityName,
  type StoredPayment,
} from '../../../registry/payment/payment.js'
import type { MoneyOwedToPayer, OwedMoneyQuery, UnsignedTransaction } from '../../chain.js'
import { mapInBatches } from '../../rpc/batches.js'
import { transientError } from '../../rpc/errors.js'
import { type RpcCall, toRpcQuantity } from '../../rpc/evm.js'
import { communityPaymentsAbi } from '../contracts/index.js'
import { createContractReader, encodeContractCall } from '../contracts/read.js'
import { getBlockHeader } from '../logs.js'
import {
  contractPaymentStruct,
  contractTokenAddress,
  HELD_PAYMENT_OUTCOME,
  readPaymentOutcomes,
} from './ending.js'

/** Maximum number of payments that one transaction reclaims: each takes about 45,000 gas. */
const MAX_RECLAIMS_PER_TRANSACTION = 50
/** Maximum number of concurrent `creditOf` calls. Each call reads the payer's credit in one token. */
const MAX_CONCURRENT_CREDIT_READS = 8

type CommunityPayment = StoredPayment<CommunityNameTarget>

/**
 * Money that a payments contract owes to a payer as of the newest block. Credits come first. Then come held payments
 * that the payer can reclaim now, in batches by token. Held payments that can be reclaimed later follow, each with its
 * time. A reclaim also withdraws the token's credit.
 */
export async function readMoneyOwedToPayer(
  call: RpcCall,
  payments: Hex,
  question: OwedMoneyQuery,
): Promise<MoneyOwedToPayer[]> {
  const { payer, to, tokens } = question
  const latest = await getBlockHeader(call, 'latest')
  if (!latest) throw transientError('eth_getBlockByNumber: the node has no latest block')
  const at = toRpcQuantity(latest.number)
  const read = createContractReader(call, payments, communityPaymentsAbi, at)
  const [held, credits] = await Promise.all([
    readHeldPayments(call, payments, question.payments.filter(isPaymentForCommunityName), at),
    mapInBatches(tokens, MAX_CONCURRENT_CREDIT_READS, (token) =>
      read('creditOf', [payer as Hex, contractTokenAddress(token)]),
    ),
  ])
  const isDue = ({ target }: CommunityPayment) => target.reclaimableMs <= latest.timestampMs
  const due = batchesByToken(held.filter(isDue))
  return [
    ...tokens.flatMap((token, i) =>
      credits[i]! > 0n ? [moneyOfCredit(token, credits[i]!, payments, to)] : [],
    ),
    ...due.map((batch) => moneyToReclaim(batch, payments, to)),
    ...held.filter((payment) => !isDue(payment)).map(moneyHeldUntilLater),
  ]
}

async function readHeldPayments(
  call: RpcCall,
  payments: Hex,
  of: readonly CommunityPayment[],
  block: Hex,
): Promise<CommunityPayment[]> {
  if (of.length === 0) return []
  const outcomes = await readPaymentOutcomes(
    call,
    payments,
    of.map(({ id }) => id),
    block,
  )
  return of.filter((_, i) => outcomes[i] === HELD_PAYMENT_OUTCOME)
}

function batchesByToken(payments: readonly CommunityPayment[]): CommunityPayment[][] {
  const tokens = [...new Set(payments.map(({ money }) => money.token))]
  const batches: CommunityPayment[][] = []
  for (const token of tokens) {
    const all = payments.filter(({ money }) => money.token === token)
    for (let i = 0; i < all.length; i += MAX_RECLAIMS_PER_TRANSACTION)
      batches.push(all.slice(i, i + MAX_RECLAIMS_PER_TRANSACTION))
  }
  return batches
}

const withdrawalTransaction = (to: Hex, data: Hex): UnsignedTransaction => ({
  type: 'evm',
  to,
  data,
  value: 0n,
})

const moneyOfCredit = (
  token: string,
  amount: bigint,
  payments: Hex,
  to: string,
): MoneyOwedToPayer => {
  const data = encodeContractCall(communityPaymentsAbi, 'withdraw', [
    contractTokenAddress(token),
    to as Hex,
  ])
  return {
    token,
    amount,
    payments: [],
    fromMs: null,
    transaction: withdrawalTransaction(payments, data),
  }
}

function moneyToReclaim(
  batch: readonly CommunityPayment[],
  payments: Hex,
  to: string,
): MoneyOwedToPayer {
  const { token } = batch[0]!.money
  const data = encodeContractCall(communityPaymentsAbi, 'reclaimAndWithdraw', [
    batch.map(contractPaymentStruct),
    contractTokenAddress(token),
    to as Hex,
  ])
  const amount = batch.reduce((sum, { money }) => sum + money.amount, 0n)
  return {
    token,
    amount,
    payments: batch,
    fromMs: null,
    transaction: withdrawalTransaction(payments, data),
  }
}

const moneyHeldUntilLater = (payment: CommunityPayment): MoneyOwedToPayer => ({
  ...payment.money,
  payments: [payment],
  fromMs: payment.target.reclaimableMs,
  transaction: null,
})
