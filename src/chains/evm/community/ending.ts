import { zeroAddress, zeroHash } from 'viem'
import { NATIVE_COIN } from '../../../registry/community/rules.js'
import type { CommunityNameTarget, StoredPayment } from '../../../registry/payment/payment.js'
import { toHex } from '../../../registry/primitives/bytes.js'
import type { Hex } from '../../chain.js'
import { transientError } from '../../rpc/errors.js'
import { type RpcCall, toRpcQuantity } from '../../rpc/evm.js'
import type { BridgeCall } from '../bridge/calls.js'
import { communityPaymentsAbi } from '../contracts/index.js'
import { createContractReader, encodeContractCall } from '../contracts/read.js'

/** A payment for a community name that the relayer refuses or releases. */
export interface PaymentToRefuseOrRelease {
  /** Id in the payments contract. */
  paymentId: Buffer
  /** Null where a rewind of the network has removed the payment from the database. */
  payment: StoredPayment<CommunityNameTarget> | null
}

/** Gas of refusing one payment in a batch. Measured: 13,800, and 17,100 more if the contract owed the payer nothing. */
export const GAS_PER_PAYMENT_REFUSAL = 31_000n

/** Values of the contract's enum `ICommunityPayments.Outcome`. */
const UNKNOWN_PAYMENT_OUTCOME = 0
export const HELD_PAYMENT_OUTCOME = 1

/**
 * Call of `refuse` or `release` of the payments contract, sent by the account with the relayer role. The contract skips
 * payments that are not held.
 */
export const buildRefuseOrReleaseCall = (
  kind: 'refuse' | 'release',
  payments: Hex,
  of: readonly PaymentToRefuseOrRelease[],
): BridgeCall => ({
  to: payments,
  data: encodeContractCall(communityPaymentsAbi, kind, [knownPaymentStructs(of)]),
})

/**
 * Calldata by which the recipient of payments in one token releases and withdraws them.
 * @param permission signature by which the account with the relayer role allows the release
 */
export function releaseAndWithdrawCalldata(
  of: readonly StoredPayment<CommunityNameTarget>[],
  permission: Hex,
): Hex {
  const { money, target } = of[0]!
  return encodeContractCall(communityPaymentsAbi, 'releaseAndWithdraw', [
    of.map(contractPaymentStruct),
    permission,
    contractTokenAddress(money.token),
    target.recipient as Hex,
  ])
}

const knownPaymentStructs = (of: readonly PaymentToRefuseOrRelease[]) =>
  of.flatMap(({ payment }) => (payment ? [contractPaymentStruct(payment)] : []))

/** The contract's struct `ICommunityPayments.Payment` for a payment. */
export const contractPaymentStruct = ({
  payer,
  money,
  target,
  referral,
}: StoredPayment<CommunityNameTarget>) => ({
  number: target.number,
  reclaimableAt: BigInt(target.reclaimableMs) / 1_000n,
  payer: toHex(payer.subarray(1)),
  recipient: target.recipient as Hex,
  token: contractTokenAddress(money.token),
  amount: money.amount,
  communityName: toHex(target.community),
  walletName: toHex(target.name),
  referralAddress: referral ? toHex(referral) : zeroHash,
})

/** Address that the payments contract uses for a token. The zero address stands for the chain's gas token. */
export const contractTokenAddress = (token: string): Hex =>
  token === NATIVE_COIN ? zeroAddress : (token as Hex)

/** Reads the payments' outcomes (`ICommunityPayments.Outcome`) as of a block, in the order of `ids`. @throws RpcError */
export const readPaymentOutcomes = (
  call: RpcCall,
  payments: Hex,
  ids: readonly Buffer[],
  block: Hex,
) =>
  createContractReader(call, payments, communityPaymentsAbi, block)('outcomesOf', [ids.map(toHex)])

/**
 * True if the contract no longer holds any of the payments as of a block. Anybody may have ended the payments.
 * @throws RpcError transient where the block is older than one of the payments
 */
export async function areNoPaymentsHeld(
  call: RpcCall,
  payments: Hex,
  of: readonly PaymentToRefuseOrRelease[],
  block: number,
): Promise<boolean> {
  const ids = of.map(({ paymentId }) => paymentId)
  const outcomes = await readPaymentOutcomes(call, payments, ids, toRpcQuantity(block))
  if (outcomes.some((outcome, i) => outcome === UNKNOWN_PAYMENT_OUTCOME && of[i]?.payment))
    throw transientError(`block ${block} is older than a payment`)
  return outcomes.every((outcome) => outcome !== HELD_PAYMENT_OUTCOME)
}
