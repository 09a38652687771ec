import bs58 from 'bs58'
import type { CommunityPaymentEvent, HubNamePayment } from '../../chains/solana/events.js'
import { type ListedDecodedTransaction, signatureFromBase58 } from '../../chains/solana/reads.js'
import { NATIVE_COIN } from '../../registry/community/rules.js'
import type {
  CommunityNameTarget,
  ConfirmedPaymentOutcome,
  HubNameTarget,
  Payment,
} from '../../registry/payment/payment.js'
import {
  communityPaymentId,
  paymentMessageId,
  paymentSourceId,
  type QuotedProgram,
  verifyQuote,
} from '../../registry/payment/quote.js'
import { storedAddress } from '../../registry/primitives/address.js'

/** Identifies the payments of one program. */
export interface PaymentProgramIdentity extends QuotedProgram {
  /** The present and earlier keys under which this installation signs quotes. */
  quoteKeys: readonly Uint8Array[]
}

/**
 * A program, and the longest time for which it holds a payment, ms (`heldMs`). Two nodes confirm this time, since the
 * date of each payment is calculated from it.
 */
export type ProgramWithHoldingTime = PaymentProgramIdentity & { heldMs: number }

const originOf = (
  tx: ListedDecodedTransaction,
  { payer, referral, reclaimableAt }: Pick<HubNamePayment, 'payer' | 'referral' | 'reclaimableAt'>,
  { heldMs }: ProgramWithHoldingTime,
) => ({
  tx: signatureFromBase58(tx.signature),
  block: tx.slot,
  blockHash: null,
  payer: storedAddress('solana', payer),
  referral: referral.some((byte) => byte !== 0) ? Buffer.from(referral) : null,
  // not the block's time, which a node may invent: the program adds the same holding time to each payment
  paidMs: Number(reclaimableAt) * 1_000 - heldMs,
})

const idOf = (
  { genesisHash, programId }: PaymentProgramIdentity,
  of: Payment['target']['kind'],
  sequence: bigint,
): Buffer =>
  of === 'name'
    ? paymentMessageId(paymentSourceId(genesisHash, programId), sequence)
    : communityPaymentId(genesisHash, programId, sequence)

/** A payment for a name on the hub in its stored form, with its quote verified. */
function namePayment(
  program: ProgramWithHoldingTime,
  tx: ListedDecodedTransaction,
  paid: HubNamePayment,
): Payment<HubNameTarget> {
  return {
    id: idOf(program, 'name', paid.sequence),
    sequence: Number(paid.sequence),
    money: { token: NATIVE_COIN, amount: paid.lamports },
    target: {
      kind: 'name',
      name: Buffer.from(paid.name),
      source: paymentSourceId(program.genesisHash, program.programId),
      quoteId: Buffer.from(paid.quoteId),
      amountWei: paid.amountWei,
      expiresAt: withinNumber(paid.expiresAt),
      verdict: verifyQuote(program.quoteKeys, program, paid),
      reclaimableMs: Number(paid.reclaimableAt) * 1_000,
    },
    ...originOf(tx, paid, program),
  }
}

const MAX = BigInt(Number.MAX_SAFE_INTEGER)
function withinNumber(value: bigint): number {
  if (value > MAX) return Number(MAX)
  return value < -MAX ? Number(-MAX) : Number(value)
}

/** A payment for a community name in its stored form. */
function communityPayment(
  program: ProgramWithHoldingTime,
  tx: ListedDecodedTransaction,
  seen: CommunityPaymentEvent,
): Payment<CommunityNameTarget> {
  const { sequence, token, amount, community, name, number } = seen
  return {
    id: idOf(program, 'communityName', sequence),
    sequence: Number(sequence),
    money: { token: token ? bs58.encode(token) : NATIVE_COIN, amount },
    target: {
      kind: 'communityName',
      community,
      name,
      recipient: bs58.encode(seen.recipient),
      number,
      reclaimableMs: Number(seen.reclaimableAt) * 1_000,
    },
    ...originOf(tx, seen, program),
  }
}

/** All payments of a transaction in their stored form. */
export const storedPaymentsOf = (
  program: ProgramWithHoldingTime,
  tx: ListedDecodedTransaction,
): Payment[] => [
  ...tx.payments.map((paid) => namePayment(program, tx, paid)),
  ...tx.communityPayments.map((paid) => communityPayment(program, tx, paid)),
]

/** All outcomes of payments in a transaction. */
export const paymentOutcomesOf = (
  program: PaymentProgramIdentity,
  { slot, ends }: ListedDecodedTransaction,
): ConfirmedPaymentOutcome[] =>
  ends.map(({ of, outcome, sequence }) => ({
    id: idOf(program, of, sequence),
    outcome,
    block: slot,
  }))
