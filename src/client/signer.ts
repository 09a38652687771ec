/** The parts of a wallet that are needed to sign in. */
export interface Signer {
  wallet: string
  /** Signs a text. @returns the signature in the form that the service accepts */
  sign(message: string): Promise<string>
}
