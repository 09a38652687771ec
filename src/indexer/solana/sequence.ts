import type { ReadTransaction, Sequences } from '../../chains/solana/reads.js'
import type { ConfirmedOutcome, Payment } from '../../registry/payment/payment.js'
import { knownUpTo } from '../../registry/payment/quote.js'
import { type HoldingProgram, outcomesOf, paymentsOf } from './row.js'

/** The rows that some transactions bring. */
export interface Tracked {
  payments: Payment[]
  /** Also of earlier transactions where the payment came only now. */
  outcomes: ConfirmedOutcome[]
}

/** A gapless count: every payment up to `known` is known; `beyond` are those behind the first gap. */
const countFrom = (known: number) => ({ known, beyond: new Set<number>() })

/**
 * Detects gaps in the sequences of a program's payments beyond the cursor. All of it is in memory: after a restart the
 * same transactions give the same again.
 */
export class SequenceTracker {
  readonly #program: HoldingProgram
  readonly #counts: Record<Payment['target']['kind'], ReturnType<typeof countFrom>>
  readonly #read = new Set<string>()
  /** Outcomes of payments that are not stored yet, by the payment's id in hex. */
  readonly #early = new Map<string, ConfirmedOutcome>()

  /** @param known every payment up to these sequences is stored */
  constructor(program: HoldingProgram, known: Sequences) {
    this.#program = program
    this.#counts = { name: countFrom(known.names), communityName: countFrom(known.communityNames) }
  }

  /** Every payment up to these sequences is known. */
  get known(): Sequences {
    return { names: this.#counts.name.known, communityNames: this.#counts.communityName.known }
  }

  /** True if nothing read so far leaves a gap, so the cursor may move. */
  get isWhole(): boolean {
    return (
      Object.values(this.#counts).every(({ beyond }) => beyond.size === 0) && this.#early.size === 0
    )
  }

  hasRead(signature: string): boolean {
    return this.#read.has(signature)
  }

  /** Advances over transactions in the order of the chain. */
  advance(txs: readonly ReadTransaction[]): Tracked {
    const payments = new Map<string, Payment>()
    for (const tx of txs) {
      this.#read.add(tx.signature)
      for (const payment of paymentsOf(this.#program, tx)) payments.set(hexOf(payment.id), payment)
      for (const outcome of outcomesOf(this.#program, tx))
        this.#early.set(hexOf(outcome.id), outcome)
    }
    for (const { target, sequence } of payments.values()) {
      const count = this.#counts[target.kind]
      if (sequence > count.known) count.beyond.add(sequence)
      count.known = knownUpTo(count.known, count.beyond)
    }
    return { payments: [...payments.values()], outcomes: [...this.#early.values()] }
  }

  /** Forgets outcomes whose payments are stored. */
  forgetOutcomes(ids: readonly Buffer[]): void {
    for (const id of ids) this.#early.delete(hexOf(id))
  }

  /** The cursor has moved behind the transactions. */
  forgetRead(): void {
    this.#read.clear()
  }
}

const hexOf = (bytes: Buffer): string => bytes.toString('hex')
