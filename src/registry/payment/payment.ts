import { nameWordText } from '../primitives/name.js'

/** Kinds of payments by their number in the database; never renumber. */
export const PAYMENT_KIND = { name: 1, communityName: 2 } as const

/** Verdicts on a payment's quote, by number in the database; never renumber. */
export const QUOTE_VERDICT = {
  /** The payment has a quote of ours. */
  honoured: 1,
  /** The quote id is unknown, or belongs to other terms (a lower price, another name). */
  foreign: 2,
} as const
export type QuoteVerdict = keyof typeof QUOTE_VERDICT

/**
 * States of a payment by number in the database (never renumber). `seen`: unconfirmed, may vanish. `confirmed`: waits
 * for delivery and settlement (a name) or the decision (a community name). `done`: a payment for a name was settled,
 * refunded or reclaimed; a payment for a community name is in the journal.
 */
export const PAYMENT_STATE = { seen: 0, confirmed: 1, done: 2 } as const
type PaymentState = keyof typeof PAYMENT_STATE

/**
 * Outcomes of a payment by number in the database (never renumber), as confirmed by its chain. `refused`: the money
 * is returned to the payer. `released`: the recipient owns it (for a hub name: the service keeps it). `reclaimed`:
 * the payer took it back because the payment was not decided in time.
 */
export const PAYMENT_OUTCOME = { refused: 1, released: 2, reclaimed: 3 } as const
export type PaymentOutcome = keyof typeof PAYMENT_OUTCOME

export interface ConfirmedPaymentOutcome {
  id: Buffer
  outcome: PaymentOutcome
  block: number
}

/** Quote and bid of a payment to a Solana program for a name on the hub. */
export interface HubNameTarget {
  kind: 'name'
  /** The name as bytes32 (`nameToWord` in name.ts). */
  name: Buffer
  /**
   * Hash of the program that was paid and of its chain's genesis (`paymentSourceId` in quote.ts). `sequence` counts the
   * payments of this program.
   */
  source: Buffer
  quoteId: Buffer
  /** Value of the bid on the hub, wei. */
  amountWei: bigint
  /** Time at which the quote expires, Unix seconds, within a safe integer. The payer may have set any value. */
  expiresAt: number
  verdict: QuoteVerdict
  /** Time from which the payer may take an undecided payment back, ms. */
  reclaimableMs: number
}

/** Name below a community that a payment is for, and who is paid. */
export interface CommunityNameTarget {
  kind: 'communityName'
  /** Community and name as raw 32-byte words, which may be malformed names. */
  community: Buffer
  name: Buffer
  /** Recipient's address as responses show it. */
  recipient: string
  /** Number of the payment, below 2^64: counted by the EVM contract, or chosen by the payer on Solana. */
  number: bigint
  /** Time from which the payer may take an undecided payment back, ms. */
  reclaimableMs: number
}

/** A payment as read from its chain. */
export interface Payment<Target = HubNameTarget | CommunityNameTarget> {
  /** 32 bytes: the payments contract's id, or the hash of a program's genesis, id and sequence (quote.ts). */
  id: Buffer
  /** Transaction hash, or signature. */
  tx: Buffer
  /** Number of the payment's block or slot. */
  block: number
  /** Hash of the payment's block. Null on a chain whose blocks are not read. */
  blockHash: Buffer | null
  /** Order among the payments: a program's count from 1 (per kind), or the log's index in its block. */
  sequence: number
  /** Stored address of the payer. */
  payer: Buffer
  /** `token` is `native`, or the token's address or mint as responses show it. `amount` is in base units. */
  money: { token: string; amount: bigint }
  target: Target
  /** Referrer, 32 bytes; null for nobody. */
  referral: Buffer | null
  /** Time of the block, ms. On Solana: the time from which the payment can be reclaimed minus the hold period. */
  paidMs: number
}

/** Name that a payment is for. For a community name it is `community/name`. Malformed words are in hex. */
export const paidNameText = ({ target }: Pick<Payment, 'target'>): string =>
  (target.kind === 'communityName' ? `${nameWordText(target.community)}/` : '') +
  nameWordText(target.name)

/** True if a payment is for a name below a community. */
export const isPaymentForCommunityName = (
  payment: StoredPayment,
): payment is StoredPayment<CommunityNameTarget> => payment.target.kind === 'communityName'

/** A payment in the database. */
export interface StoredPayment<Target = HubNameTarget | CommunityNameTarget>
  extends Payment<Target> {
  /** Number of the chain on which the payment was made. */
  chain: number
  state: PaymentState
  /** Null for a payment whose money is still held, or whose outcome is not known. */
  outcome: PaymentOutcome | null
}
