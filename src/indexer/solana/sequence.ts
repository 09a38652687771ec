import type { ReadTransaction } from '../../chains/solana/reads.js'
import type { PaymentAccount } from '../../chains/solana/registrar.js'
import type { StoredPayment } from '../../db/payments/payments.js'
import { knownUpTo, type Payment, paymentMessageId } from '../../registry/payment/quote.js'
import { type ProgramIdentity, rowOf } from './row.js'

/** What some transactions bring into the database. */
export interface Taken {
  payments: StoredPayment[]
  /** Message ids of payments that were settled or refunded, also of earlier transactions where the payment came only now. */
  closed: Buffer[]
}

/**
 * What is known of a program's payments beyond the cursor: without it a transaction would be read again, or a gap overlooked.
 * All of it is in memory: after a restart the same transactions give the same again.
 */
export interface Book {
  /** Every payment up to here is known. */
  readonly known: number
  /** Nothing that was read so far leaves a gap: the cursor may move behind it. */
  readonly isWhole: boolean
  /** Whether a transaction was read. */
  has(signature: string): boolean
  /**
   * Takes in transactions in the order of the chain.
   * @param accounts the open payments of quotes whose sequence nothing else tells, by the quote's id in hex
   */
  take(txs: readonly ReadTransaction[], accounts: ReadonlyMap<string, PaymentAccount>, nowMs: number): Taken
  /** Payments of these that were settled or refunded are stored. */
  forgetClosed(messageIds: readonly Buffer[]): void
  /** The cursor has moved behind everything that was read. */
  forgetRead(): void
}

interface Open {
  tx: ReadTransaction
  payment: Omit<Payment, 'sequence'>
  position: number
}

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** @param known every payment up to this sequence is stored */
export function createBook(identity: ProgramIdentity, known: number): Book {
  /** Sequences that are known beyond the first gap. */
  const beyond = new Set<number>()
  const read = new Set<string>()
  /** Payments whose sequence isn't known yet, by quote id. */
  const open = new Map<string, Open>()
  /** Message ids of closed payments that are not stored yet. */
  const closed = new Map<string, Buffer>()
  let upTo = known

  const messageId = (sequence: bigint) => paymentMessageId(identity.genesisHash, identity.programId, sequence)

  return {
    get known() {
      return upTo
    },
    get isWhole() {
      return beyond.size === 0 && open.size === 0 && closed.size === 0
    },
    has: (signature) => read.has(signature),
    take(txs, accounts, nowMs) {
      const payments: StoredPayment[] = []
      const add = ({ tx, payment, position }: Open, sequence: bigint) => {
        payments.push(rowOf(identity, tx, { ...payment, sequence }, position, nowMs))
        if (Number(sequence) > upTo) beyond.add(Number(sequence))
        open.delete(hexOf(payment.quoteId))
      }
      for (const tx of txs) {
        read.add(tx.signature)
        tx.payments.forEach((payment, position) => {
          const id = hexOf(payment.quoteId)
          const sequence = payment.sequence ?? accounts.get(id)?.sequence
          if (sequence !== undefined) add({ tx, payment, position }, sequence)
          else open.set(id, { tx, payment, position })
        })
        for (const { sequence, quoteId } of tx.closed) {
          const opened = open.get(hexOf(quoteId))
          if (opened) add(opened, sequence)
          const id = messageId(sequence)
          closed.set(hexOf(id), id)
        }
      }
      upTo = knownUpTo(upTo, beyond)
      return { payments, closed: [...closed.values()] }
    },
    forgetClosed(messageIds) {
      for (const id of messageIds) closed.delete(hexOf(id))
    },
    forgetRead() {
      read.clear()
    },
  }
}

/** Quotes whose payments show no sequence: their accounts may. */
export const openQuotes = (txs: readonly ReadTransaction[]): Uint8Array[] =>
  txs.flatMap(({ payments }) => payments.flatMap(({ sequence, quoteId }) => (sequence === null ? [quoteId] : [])))
