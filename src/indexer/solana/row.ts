import bs58 from 'bs58'
import type { SeenCommunityPayment, SeenPayment } from '../../chains/solana/events.js'
import { type ReadTransaction, signatureBytes } from '../../chains/solana/reads.js'
import { NATIVE } from '../../registry/community/rules.js'
import type { CommunityNameTarget, ConfirmedOutcome, NameTarget, Payment } from '../../registry/payment/payment.js'
import {
  communityPaymentId,
  paymentMessageId,
  paymentSource,
  type QuotedProgram,
  verifyQuote,
} from '../../registry/payment/quote.js'
import { ADDRESS_TYPE_CODE } from '../../registry/primitives/address.js'

/** Tells a program's payments apart from those of all others. */
export interface ProgramIdentity extends QuotedProgram {
  /** The keys under which this installation signs, and has signed, its quotes. */
  quoteKeys: readonly Uint8Array[]
}

/** The longest time after which a payment may be reclaimed, a month by the program, with room for clocks. */
const LONGEST_HELD_MS = 31 * 86_400_000

/** Time of a payment: its block's, or that of reading where it does not fit the time of reclaiming (Surfpool's). */
function timeOf({ blockTime }: Pick<ReadTransaction, 'blockTime'>, nowMs: number, reclaimableMs: number): number {
  const ms = blockTime === null ? 0 : blockTime * 1_000
  return ms <= reclaimableMs && ms >= reclaimableMs - LONGEST_HELD_MS ? ms : nowMs
}

/** Fields of a payment that come from its transaction and payer. */
const originOf = (
  tx: ReadTransaction,
  { payer, referral, reclaimableAt }: Pick<SeenPayment, 'payer' | 'referral' | 'reclaimableAt'>,
  nowMs: number,
) => ({
  tx: signatureBytes(tx.signature),
  block: tx.slot,
  blockHash: null,
  payer: Buffer.concat([Buffer.of(ADDRESS_TYPE_CODE.solana), payer]),
  referral: referral.some((byte) => byte !== 0) ? Buffer.from(referral) : null,
  paidMs: timeOf(tx, nowMs, Number(reclaimableAt) * 1_000),
})

/** A payment for a name on the hub as it is stored, its quote verified. */
function namePayment(
  { network, genesisHash, programId, quoteKeys }: ProgramIdentity,
  tx: ReadTransaction,
  paid: SeenPayment,
  nowMs: number,
): Payment<NameTarget> {
  const source = paymentSource(genesisHash, programId)
  return {
    id: paymentMessageId(source, paid.sequence),
    sequence: Number(paid.sequence),
    money: { token: NATIVE, amount: paid.lamports },
    target: {
      kind: 'name',
      name: Buffer.from(paid.name),
      source,
      quoteId: Buffer.from(paid.quoteId),
      amountWei: paid.amountWei,
      expiresAt: withinNumber(paid.expiresAt),
      verdict: verifyQuote(quoteKeys, { network, genesisHash, programId }, paid),
      reclaimableMs: Number(paid.reclaimableAt) * 1_000,
    },
    ...originOf(tx, paid, nowMs),
  }
}

const MAX = BigInt(Number.MAX_SAFE_INTEGER)
const withinNumber = (value: bigint): number => Number(value > MAX ? MAX : value < -MAX ? -MAX : value)

/** A payment for a community name as it is stored. */
function communityPayment(
  { genesisHash, programId }: ProgramIdentity,
  tx: ReadTransaction,
  seen: SeenCommunityPayment,
  nowMs: number,
): Payment<CommunityNameTarget> {
  const { sequence, token, amount, community, name, number } = seen
  return {
    id: communityPaymentId(genesisHash, programId, sequence),
    sequence: Number(sequence),
    money: { token: token ? bs58.encode(token) : NATIVE, amount },
    target: {
      kind: 'communityName',
      community,
      name,
      recipient: bs58.encode(seen.recipient),
      number,
      reclaimableMs: Number(seen.reclaimableAt) * 1_000,
    },
    ...originOf(tx, seen, nowMs),
  }
}

/** All payments of a transaction as they are stored. */
export const paymentsOf = (identity: ProgramIdentity, tx: ReadTransaction, nowMs: number): Payment[] => [
  ...tx.payments.map((paid) => namePayment(identity, tx, paid, nowMs)),
  ...tx.communityPayments.map((paid) => communityPayment(identity, tx, paid, nowMs)),
]

const OUTCOME_OF = { settled: 'released', refunded: 'refused', refused: 'refused', released: 'released' } as const

/** All outcomes of a transaction. What is collected was decided before. */
export function outcomesOf({ genesisHash, programId }: ProgramIdentity, tx: ReadTransaction): ConfirmedOutcome[] {
  const nameId = (sequence: bigint) => paymentMessageId(paymentSource(genesisHash, programId), sequence)
  const outcome = (kind: keyof typeof OUTCOME_OF | 'reclaimed', id: Buffer): ConfirmedOutcome => ({
    ...{ id, outcome: kind === 'reclaimed' ? kind : OUTCOME_OF[kind], block: tx.slot },
  })
  return [
    ...tx.closed.map(({ kind, sequence }) => outcome(kind, nameId(sequence))),
    ...tx.communityOutcomes.flatMap(({ kind, sequence }) =>
      kind === 'collected' ? [] : [outcome(kind, communityPaymentId(genesisHash, programId, sequence))],
    ),
  ]
}
