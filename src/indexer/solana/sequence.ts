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

/** A gapless count. */
class Count {
  /** Every payment up to here is known. */
  known: number
  /** Known sequences beyond the first gap. */
  readonly #beyond = new Set<number>()

  constructor(known: number) {
    this.known = known
  }

  get isWhole(): boolean {
    return this.#beyond.size === 0
  }

  add(sequence: number): void {
    if (sequence > this.known) this.#beyond.add(sequence)
    this.known = knownUpTo(this.known, this.#beyond)
  }
}

/**
 * Detects gaps in the sequences of a program's payments beyond the cursor. All of it is in memory: after a restart the
 * same transactions give the same again.
 */
export class SequenceTracker {
  readonly #program: HoldingProgram
  readonly #names: Count
  readonly #communityNames: Count
  readonly #read = new Set<string>()
  /** Outcomes of payments that are not stored yet, by the payment's id in hex. */
  readonly #early = new Map<string, ConfirmedOutcome>()

  /** @param known every payment up to these sequences is stored */
  constructor(program: HoldingProgram, known: Sequences) {
    this.#program = program
    this.#names = new Count(known.names)
    this.#communityNames = new Count(known.communityNames)
  }

  /** Every payment up to these sequences is known. */
  get known(): Sequences {
    return { names: this.#names.known, communityNames: this.#communityNames.known }
  }

  /** Tells whether nothing read so far leaves a gap, so that the cursor may move. */
  get isWhole(): boolean {
    return this.#names.isWhole && this.#communityNames.isWhole && this.#early.size === 0
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
      for (const outcome of outcomesOf(this.#program, tx)) this.#early.set(hexOf(outcome.id), outcome)
    }
    for (const { target, sequence } of payments.values())
      (target.kind === 'name' ? this.#names : this.#communityNames).add(sequence)
    return { payments: [...payments.values()], outcomes: [...this.#early.values()] }
  }

  /** Forgets outcomes whose payments are stored. */
  forgetOutcomes(ids: readonly Buffer[]): void {
    for (const id of ids) this.#early.delete(hexOf(id))
  }

  /** Forgets which transactions were read: the cursor has moved behind them. */
  forgetRead(): void {
    this.#read.clear()
  }
}

const hexOf = (bytes: Buffer): string => bytes.toString('hex')
