/** A payment for a community name as a chain shows it: not believed yet, not judged. */
export interface MadePayment {
  /** EVM: the contract's id of the payment. Solana: hash of genesis, program and sequence. 32 bytes. */
  paymentId: Buffer
  /** Transaction hash or signature. */
  tx: Buffer
  /** Its place in the journal, beside the chain: EVM block and index of the log, Solana slot and count of payments. */
  block: number
  /** null on Solana. */
  blockHash: Buffer | null
  logIndex: number
  /** Stored address; gets the name. */
  payer: Buffer
  /** `native`, or the token's address or mint in its answer form. */
  token: string
  /** Base units. */
  amount: bigint
  /** In its answer form. */
  recipient: string
  /** The words of the names, as they were paid for: those of a stranger may be none. */
  community: Buffer
  name: Buffer
  /** 32 bytes, null for nobody. */
  referral: Buffer | null
  /** The time of its block, ms. */
  paidMs: number
  /** Until then it can be refused, ms. */
  heldUntilMs: number
}
