import { wordText } from '../primitives/name.js'

/** Kinds of payments by their number in the database; never renumber. */
export const PAYMENT_KIND = { name: 1, communityName: 2 } as const

/** A quote's verdict by its number in the database; never renumber. */
export const QUOTE_VERDICT = {
  /** Payment under a quote of ours. */
  honoured: 1,
  /** Quote id unknown, or of other terms (less paid, another name). */
  foreign: 2,
} as const
export type QuoteVerdict = keyof typeof QUOTE_VERDICT

/**
 * States of a payment by number in the database (never renumber). `seen`: unconfirmed, may vanish. `confirmed`: waits
 * for delivery and settlement (a name) or the decision (a community name). `done`: settled, refunded, or journalled.
 */
export const PAYMENT_STATE = { seen: 0, confirmed: 1, done: 2 } as const
type PaymentState = keyof typeof PAYMENT_STATE

/**
 * Outcomes of a payment by their number in the database (never renumber), as its chain confirmed: the money is
 * the payer's again; it is whose it was paid for (a name's: kept); the payer took it back because nobody had decided.
 */
export const PAYMENT_OUTCOME = { refused: 1, released: 2, reclaimed: 3 } as const
export type PaymentOutcome = keyof typeof PAYMENT_OUTCOME

export interface ConfirmedOutcome {
  id: Buffer
  outcome: PaymentOutcome
  block: number
}

export interface NameTarget {
  kind: 'name'
  /** Word, 32 bytes. */
  name: Buffer
  /** Program that counts the payment's sequence, on its cluster (quote.ts). */
  source: Buffer
  quoteId: Buffer
  /** Worth of the bid on the hub. */
  amountWei: bigint
  /** Unix seconds, within a safe integer: a stranger may have set any value. */
  expiresAt: number
  verdict: QuoteVerdict
  /** Time from which the payer may take an undecided payment back, ms. */
  reclaimableMs: number
}

export interface CommunityNameTarget {
  kind: 'communityName'
  /** Words, 32 bytes each. */
  community: Buffer
  name: Buffer
  /** Answer form of the address. */
  recipient: string
  /** Number of the payment, of the chain's or the payer's choice; below 2^64. */
  number: bigint
  /** Time from which the payer may take an undecided payment back, ms. */
  reclaimableMs: number
}

/** A payment as its chain shows it. */
export interface Payment<Target = NameTarget | CommunityNameTarget> {
  /** 32 bytes: the payments contract's id; of a program the hash of genesis, program and sequence (quote.ts). */
  id: Buffer
  /** Transaction hash, or signature. */
  tx: Buffer
  /** Block or slot. */
  block: number
  /** Null on a chain whose blocks are not read. */
  blockHash: Buffer | null
  /** Place among the payments: a program's count from 1 (per kind), or the log's index in its block. */
  sequence: number
  /** Stored address. */
  payer: Buffer
  /** `native`, or the token's address or mint in its answer form; amount in base units. */
  money: { token: string; amount: bigint }
  target: Target
  /** 32 bytes, null for nobody. */
  referral: Buffer | null
  /** Time of the block, ms; of a program the time of reclaiming, less the program's period. */
  paidMs: number
}

/** Name that a payment is for: of a community `community/name`; malformed words in hex. */
export const paidNameText = ({ target }: Pick<Payment, 'target'>): string =>
  (target.kind === 'communityName' ? `${wordText(target.community)}/` : '') + wordText(target.name)

/** True if a payment is for a name below a community. */
export const isForCommunityName = (
  payment: StoredPayment,
): payment is StoredPayment<CommunityNameTarget> => payment.target.kind === 'communityName'

/** A payment in the database. */
export interface StoredPayment<Target = NameTarget | CommunityNameTarget> extends Payment<Target> {
  /** Number of the chain on which the payment was made. */
  chain: number
  state: PaymentState
  /** Null for a payment that is held, or not known to be decided. */
  outcome: PaymentOutcome | null
}
