import type { CommunityOutcome, SeenCommunityPayment } from '../../chains/solana/community/events.js'
import type { CommunityPaymentAccount } from '../../chains/solana/community/program.js'
import type { ReadTransaction } from '../../chains/solana/reads.js'
import type { PaymentAccount } from '../../chains/solana/registrar.js'
import type { Payment } from '../../registry/payment/payment.js'
import { knownUpTo, type PaidQuote, paymentMessageId, paymentSource } from '../../registry/payment/quote.js'
import { type Counted, communityPayment, countedBy, namePayment, type ProgramIdentity } from './row.js'

/** Sequences of a program's two counts of payments: for names on the hub, and for community names. */
export interface Sequences {
  names: number
  communityNames: number
}

/** Accounts of open payments whose sequence the transactions don't tell. */
export interface OpenAccounts {
  /** Keyed by the quote's id in hex. */
  payments: ReadonlyMap<string, PaymentAccount>
  /** Keyed by `communityKey`. */
  communityPayments: ReadonlyMap<string, CommunityPaymentAccount>
}

/** The rows that some transactions bring. */
export interface Tracked {
  payments: Payment[]
  /** Ids of settled or refunded payments, also of earlier transactions where the payment came only now. */
  closed: Buffer[]
}

interface Open<Paid> {
  tx: ReadTransaction
  paid: Paid
}

/** One gapless count. */
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

  has(sequence: bigint): boolean {
    return Number(sequence) <= this.known || this.#beyond.has(Number(sequence))
  }

  add(sequence: bigint): void {
    if (!this.has(sequence)) this.#beyond.add(Number(sequence))
  }

  closeGaps(): void {
    this.known = knownUpTo(this.known, this.#beyond)
  }
}

/**
 * Detects gaps in the sequences of a program's payments beyond the cursor. All of it is in memory: after a restart the
 * same transactions give the same again.
 */
export class SequenceTracker {
  readonly #identity: ProgramIdentity
  readonly #names: Count
  readonly #communityNames: Count
  readonly #read = new Set<string>()
  /** Payments without a sequence yet, by quote id. */
  readonly #openNames = new Map<string, Open<Omit<PaidQuote, 'sequence'>>>()
  /** Payments without a sequence yet, oldest first. */
  #openCommunityNames: Open<SeenCommunityPayment>[] = []
  /** Ids of closed payments that are not stored yet, by their hex. */
  readonly #closed = new Map<string, Buffer>()

  /** @param known every payment up to these sequences is stored */
  constructor(identity: ProgramIdentity, known: Sequences) {
    this.#identity = identity
    this.#names = new Count(known.names)
    this.#communityNames = new Count(known.communityNames)
  }

  /** Every payment up to these sequences is known. */
  get known(): Sequences {
    return { names: this.#names.known, communityNames: this.#communityNames.known }
  }

  /** Whether each count has no gap so far. */
  get whole(): Record<keyof Sequences, boolean> {
    return {
      names: this.#names.isWhole && this.#openNames.size === 0 && this.#closed.size === 0,
      communityNames: this.#communityNames.isWhole && this.#openCommunityNames.length === 0,
    }
  }

  /** Whether nothing read so far leaves a gap, so that the cursor may move. */
  get isWhole(): boolean {
    return this.whole.names && this.whole.communityNames
  }

  hasRead(signature: string): boolean {
    return this.#read.has(signature)
  }

  /**
   * Advances over transactions in the order of the chain.
   * @param accounts of payments whose sequence nothing else tells
   */
  advance(txs: readonly ReadTransaction[], accounts: OpenAccounts, nowMs: number): Tracked {
    const payments: Payment[] = []
    for (const tx of txs) {
      this.#read.add(tx.signature)
      payments.push(...this.#namesOf(tx, accounts.payments, nowMs))
      payments.push(...this.#communityNamesOf(tx, accounts.communityPayments, nowMs))
    }
    this.#names.closeGaps()
    this.#communityNames.closeGaps()
    return { payments, closed: [...this.#closed.values()] }
  }

  #namesOf(tx: ReadTransaction, accounts: OpenAccounts['payments'], nowMs: number): Payment[] {
    const payments: Payment[] = []
    const add = ({ tx: from, paid }: Open<Omit<PaidQuote, 'sequence'>>, sequence: bigint) => {
      payments.push(namePayment(this.#identity, from, { ...paid, sequence }, nowMs))
      this.#names.add(sequence)
      this.#openNames.delete(hexOf(paid.quoteId))
    }
    for (const paid of tx.payments) {
      const id = hexOf(paid.quoteId)
      const sequence = paid.sequence ?? accounts.get(id)?.sequence
      if (sequence !== undefined) add({ tx, paid }, sequence)
      else this.#openNames.set(id, { tx, paid })
    }
    for (const { sequence, quoteId } of tx.closed) {
      const opened = this.#openNames.get(hexOf(quoteId))
      if (opened) add(opened, sequence)
      const { genesisHash, programId } = this.#identity
      const id = paymentMessageId(paymentSource(genesisHash, programId), sequence)
      this.#closed.set(hexOf(id), id)
    }
    return payments
  }

  #communityNamesOf(tx: ReadTransaction, accounts: OpenAccounts['communityPayments'], nowMs: number): Payment[] {
    const payments: Payment[] = []
    const add = ({ tx: from, paid }: Open<SeenCommunityPayment>, counted: Counted) => {
      payments.push(communityPayment(this.#identity, from, { ...paid, ...counted }, nowMs))
      this.#communityNames.add(counted.sequence)
    }
    for (const paid of tx.communityPayments) {
      const counted = countedBy(paid, tx, accounts.get(communityKey(paid)))
      if (counted) add({ tx, paid }, counted)
      else this.#openCommunityNames.push({ tx, paid })
    }
    for (const outcome of tx.communityOutcomes) {
      const opened = this.#closeOpen(outcome)
      if (opened) add(opened, { sequence: outcome.sequence, heldUntil: opened.paid.heldUntil })
    }
    return payments
  }

  /** An outcome with an unknown sequence belongs to the oldest open payment for its name. */
  #closeOpen({ sequence, community, name }: CommunityOutcome): Open<SeenCommunityPayment> | undefined {
    if (this.#communityNames.has(sequence)) return undefined
    const found = this.#openCommunityNames.find(
      ({ paid }) => paid.community.equals(community) && paid.name.equals(name),
    )
    this.#openCommunityNames = this.#openCommunityNames.filter((one) => one !== found)
    return found
  }

  /** Forgets settled or refunded payments that are stored. */
  forgetClosed(ids: readonly Buffer[]): void {
    for (const id of ids) this.#closed.delete(hexOf(id))
  }

  /** The cursor has moved behind everything that was read. */
  forgetRead(): void {
    this.#read.clear()
  }
}

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Key of an open payment for a community name: at most one per payer. */
export const communityKey = ({
  community,
  name,
  payer,
}: Pick<SeenCommunityPayment, 'community' | 'name' | 'payer'>): string =>
  Buffer.concat([community, name, payer]).toString('hex')

/** Ids of quotes whose payments show no sequence: their accounts may. */
export const openQuotes = (txs: readonly ReadTransaction[]): Uint8Array[] =>
  txs.flatMap(({ payments }) => payments.flatMap(({ sequence, quoteId }) => (sequence === null ? [quoteId] : [])))

/** Payments for community names that show no sequence: their accounts may. */
export const openCommunityKeys = (txs: readonly ReadTransaction[]): SeenCommunityPayment[] =>
  txs.flatMap(({ communityPayments }) => communityPayments.filter(({ sequence }) => sequence === null))
