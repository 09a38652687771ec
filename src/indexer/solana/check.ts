import type {
  ListedDecodedTransaction,
  ListedTransaction,
  PaymentCounts,
} from '../../chains/solana/reads.js'
import type { ConfirmedPaymentOutcome, Payment } from '../../registry/payment/payment.js'
import { lastContiguousSequence } from '../../registry/payment/quote.js'
import { type ProgramWithHoldingTime, paymentOutcomesOf, storedPaymentsOf } from './row.js'

/** The rows that result from some transactions. */
export interface PaymentRows {
  payments: Payment[]
  /** Includes outcomes of earlier transactions whose payment was read only now. */
  outcomes: ConfirmedPaymentOutcome[]
}

/** Counts payment numbers: every payment up to number `known` was read. `beyond`: numbers read after the first gap. */
const countFrom = (known: number) => ({ known, beyond: new Set<number>() })

/**
 * Detects gaps in the numbers (sequences) of a program's payments after the cursor. The state is only in memory: after
 * a restart the same transactions are read again, with the same result.
 */
export class PaymentSequenceTracker {
  readonly #program: ProgramWithHoldingTime
  readonly #counts: Record<Payment['target']['kind'], ReturnType<typeof countFrom>>
  /** Read transactions, by signature. */
  readonly #read = new Map<string, { slot: number; hasEvents: boolean }>()
  /** Outcomes of payments that are not stored yet, by the payment's id in hex. */
  readonly #early = new Map<string, ConfirmedPaymentOutcome>()

  /** @param known payment numbers up to which every payment is stored */
  constructor(program: ProgramWithHoldingTime, known: PaymentCounts) {
    this.#program = program
    this.#counts = { name: countFrom(known.names), communityName: countFrom(known.communityNames) }
  }

  /** Payment numbers up to which every payment was read. */
  get known(): PaymentCounts {
    return { names: this.#counts.name.known, communityNames: this.#counts.communityName.known }
  }

  /** True if there is no gap, and no outcome without its payment, so the cursor may move. */
  get isWhole(): boolean {
    return (
      Object.values(this.#counts).every(({ beyond }) => beyond.size === 0) && this.#early.size === 0
    )
  }

  hasRead(signature: string): boolean {
    return this.#read.has(signature)
  }

  /** Adds transactions, in the order of the chain. @returns the rows to store */
  advance(txs: readonly ListedDecodedTransaction[]): PaymentRows {
    const payments = new Map<string, Payment>()
    for (const tx of txs) {
      const hasEvents = tx.payments.length + tx.communityPayments.length + tx.ends.length > 0
      this.#read.set(tx.signature, { slot: tx.slot, hasEvents })
      for (const payment of storedPaymentsOf(this.#program, tx))
        payments.set(hexOf(payment.id), payment)
      for (const outcome of paymentOutcomesOf(this.#program, tx))
        this.#early.set(hexOf(outcome.id), outcome)
    }
    for (const { target, sequence } of payments.values()) {
      const count = this.#counts[target.kind]
      if (sequence > count.known) count.beyond.add(sequence)
      count.known = lastContiguousSequence(count.known, count.beyond)
    }
    return { payments: [...payments.values()], outcomes: [...this.#early.values()] }
  }

  /** Forgets outcomes whose payments are stored. */
  forgetOutcomes(ids: readonly Buffer[]): void {
    for (const id of ids) this.#early.delete(hexOf(id))
  }

  /**
   * Signature of a transaction with payments or outcomes that a node's list omits although the list covers its slot.
   * Null if the list omits no such transaction.
   */
  leftOutOf(
    { listed, downToSlot }: { listed: readonly ListedTransaction[]; downToSlot: number },
    beforeSlot: number,
  ): string | null {
    const signatures = new Set(listed.map(({ signature }) => signature))
    for (const [signature, { slot, hasEvents }] of this.#read)
      if (hasEvents && slot >= downToSlot && slot < beforeSlot && !signatures.has(signature))
        return signature
    return null
  }

  /** Forgets the transactions before a slot: lists that nodes return from now on need not contain them. */
  forgetRead(beforeSlot = Number.POSITIVE_INFINITY): void {
    for (const [signature, { slot }] of this.#read)
      if (slot < beforeSlot) this.#read.delete(signature)
  }
}

const hexOf = (bytes: Buffer): string => bytes.toString('hex')
