import type { ReadTransaction } from '../../chains/solana/reads.js'
import { signatureBytes } from '../../chains/solana/reads.js'
import type { StoredPayment } from '../../db/payments/payments.js'
import { judgePayment, PAYMENT_VERDICT, type Payment, paymentMessageId } from '../../registry/payment/quote.js'
import { ADDRESS_TYPE_CODE } from '../../registry/primitives/address.js'
import type { Network } from '../../registry/primitives/network.js'

/** What tells a program's payments apart from all others. */
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

/** When a transaction was executed; when it is seen, where its node doesn't tell. */
export function timeOf({ blockTime }: Pick<ReadTransaction, 'blockTime'>, nowMs: number): number {
  const ms = blockTime === null ? 0 : blockTime * 1_000
  return ms >= FIRST_BLOCK_MS ? ms : nowMs
}

/** A payment as it is stored, judged. */
export function rowOf(
  identity: ProgramIdentity,
  tx: ReadTransaction,
  payment: Payment,
  position: number,
  nowMs: number,
): StoredPayment {
  const { network, genesisHash, programId, quoteKey } = identity
  return {
    messageId: paymentMessageId(genesisHash, programId, payment.sequence),
    sequence: Number(payment.sequence),
    signature: signatureBytes(tx.signature),
    slot: tx.slot,
    position,
    payer: Buffer.concat([Buffer.of(ADDRESS_TYPE_CODE.solana), payment.payer]),
    quoteId: Buffer.from(payment.quoteId),
    name: Buffer.from(payment.name),
    amountWei: payment.amountWei,
    lamports: payment.lamports,
    expiresAt: withinNumber(payment.expiresAt),
    referral: Buffer.from(payment.referral),
    paidMs: timeOf(tx, nowMs),
    verdict: PAYMENT_VERDICT[judgePayment(quoteKey, network, payment)],
  }
}

const MAX = BigInt(Number.MAX_SAFE_INTEGER)
const withinNumber = (value: bigint): number => Number(value > MAX ? MAX : value < -MAX ? -MAX : value)
