import type { CommunityPaymentBody } from './communityChange.js'

/** A payment for a community name as a chain shows it: not believed yet, not judged. */
export interface MadePayment extends Omit<CommunityPaymentBody, 'network' | 'blockMs' | 'met'> {
  /** EVM: the contract's id of the payment. Solana: hash of genesis, program and sequence. 32 bytes. */
  paymentId: Buffer
  /** Its place in the journal, beside the chain: EVM block and index of the log, Solana slot and count of payments. */
  block: number
  /** null on Solana. */
  blockHash: Buffer | null
  logIndex: number
  /** The time of its block, ms. */
  paidMs: number
  /** Until then it can be refused, ms. */
  heldUntilMs: number
}
