import bs58 from 'bs58'
import type { SeenCommunityPayment } from '../../chains/solana/community/events.js'
import type { CommunityPaymentAccount } from '../../chains/solana/community/program.js'
import { type ReadTransaction, signatureBytes } from '../../chains/solana/reads.js'
import { NATIVE } from '../../registry/community/rules.js'
import type { CommunityNameTarget, NameTarget, Payment } from '../../registry/payment/payment.js'
import {
  communityPaymentId,
  type PaidQuote,
  paymentMessageId,
  paymentSource,
  verifyQuote,
} from '../../registry/payment/quote.js'
import { ADDRESS_TYPE_CODE } from '../../registry/primitives/address.js'
import type { Network } from '../../registry/primitives/network.js'

/** Tells a program's payments apart from those of all others. */
export interface ProgramIdentity {
  network: Network
  /** 32 bytes. */
  genesisHash: Uint8Array
  programId: Uint8Array
  /** The key under which this installation signs its quotes. */
  quoteKey: Uint8Array
}

/** Solana's first block. An earlier block time is none (Surfpool gives thousandths). */
const FIRST_BLOCK_MS = Date.UTC(2020, 2, 16)

/** Time of a transaction; the time of reading where its node gives none. */
function timeOf({ blockTime }: Pick<ReadTransaction, 'blockTime'>, nowMs: number): number {
  const ms = blockTime === null ? 0 : blockTime * 1_000
  return ms >= FIRST_BLOCK_MS ? ms : nowMs
}

/** Fields of a payment that come from its transaction and payer. */
const originOf = (tx: ReadTransaction, payer: Uint8Array, referral: Uint8Array, nowMs: number) => ({
  tx: signatureBytes(tx.signature),
  block: tx.slot,
  blockHash: null,
  payer: Buffer.concat([Buffer.of(ADDRESS_TYPE_CODE.solana), payer]),
  referral: referral.some((byte) => byte !== 0) ? Buffer.from(referral) : null,
  paidMs: timeOf(tx, nowMs),
})

/** A payment for a name on the hub as it is stored, its quote verified. */
export function namePayment(
  { network, genesisHash, programId, quoteKey }: ProgramIdentity,
  tx: ReadTransaction,
  paid: PaidQuote,
  nowMs: number,
): Payment<NameTarget> {
  const source = paymentSource(genesisHash, programId)
  return {
    id: paymentMessageId(source, paid.sequence),
    sequence: Number(paid.sequence),
    ...originOf(tx, paid.payer, paid.referral, nowMs),
    money: { token: NATIVE, amount: paid.lamports },
    target: {
      kind: 'name',
      name: Buffer.from(paid.name),
      source,
      quoteId: Buffer.from(paid.quoteId),
      amountWei: paid.amountWei,
      expiresAt: withinNumber(paid.expiresAt),
      verdict: verifyQuote(quoteKey, network, paid),
    },
  }
}

const MAX = BigInt(Number.MAX_SAFE_INTEGER)
const withinNumber = (value: bigint): number => Number(value > MAX ? MAX : value < -MAX ? -MAX : value)

/** The program's count of a payment for a community name. */
export interface Counted {
  sequence: bigint
  /** Unix time, seconds; null where the money has gone and nothing tells it. */
  heldUntil: bigint | null
}

/** A payment's count by its event or its account. An account from another slot holds another payment. */
export function countedBy(
  { sequence, heldUntil }: SeenCommunityPayment,
  { slot }: Pick<ReadTransaction, 'slot'>,
  account: CommunityPaymentAccount | undefined,
): Counted | null {
  if (sequence !== null && heldUntil !== null) return { sequence, heldUntil }
  const fitting = account?.slot === BigInt(slot) ? account : undefined
  if (fitting) return { sequence: sequence ?? fitting.sequence, heldUntil: heldUntil ?? fitting.heldUntil }
  return sequence === null ? null : { sequence, heldUntil }
}

/**
 * A payment for a community name as it is stored. Money that has gone can't be refused: its hold ends with its block.
 */
export function communityPayment(
  { genesisHash, programId }: ProgramIdentity,
  tx: ReadTransaction,
  seen: SeenCommunityPayment & Counted,
  nowMs: number,
): Payment<CommunityNameTarget> {
  const { sequence, heldUntil, token, amount, community, name } = seen
  const origin = originOf(tx, seen.payer, seen.referral, nowMs)
  return {
    id: communityPaymentId(genesisHash, programId, sequence),
    sequence: Number(sequence),
    ...origin,
    money: { token: token ? bs58.encode(token) : NATIVE, amount },
    target: {
      ...{ kind: 'communityName', community, name, recipient: bs58.encode(seen.recipient) },
      heldUntilMs: heldUntil === null ? origin.paidMs : Number(heldUntil) * 1_000,
    },
  }
}
