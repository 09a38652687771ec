/** Types for the evidence that a wallet belongs to its cluster. `clusterd-client/verify` exports them. */

/**
 * Evidence that a wallet belongs to its cluster. `signed`: the wallet's signature. `registered`: a name that the wallet
 * registered on the hub. `unsigned`: none.
 */
export type EvidenceMark = 'signed' | 'registered' | 'unsigned'

/** A public wallet of a cluster, as the logs show it. */
export interface BundleWallet {
  address: string
  name: string
  isVerified: boolean
  evidence: EvidenceMark
  /**
   * Newest name that the wallet registered on the hub since it was added, according to the service's log. Null without
   * such a name.
   */
  registeredName: string | null
  /** Date in the signed message, ISO 8601. Null where the wallet has not signed. */
  signedAt: string | null
}

/** Signature of a smart wallet, which only its chain can check. */
export interface ContractEvidence {
  address: string
  message: string
  /** Hex. Null where it is too long for the log. */
  signature: string | null
  /** SHA-256 of the signature's text, hex. Null unless the signature is too long for the log. */
  signatureHash: string | null
  /** Newest block of the hub when the service asked the wallet's chain. Null where the log has none. */
  block: number | null
}

/** Asks a smart wallet's chain whether the wallet signed a message (ERC-1271). */
export type ContractCheck = (evidence: ContractEvidence) => Promise<boolean>
