import type { RegistrationQuote } from '../chain.js'

/** Transactions of a registration on Solana, one per name. All amounts but `amountWei` are in lamports. */
export interface SolanaQuote extends RegistrationQuote {
  gasToken: { symbol: 'SOL'; decimals: 'lamports' }
  /** Unsigned transactions in the order of the names: serialized in base64, and in the form of `Transaction.toJSON`. */
  transactions: readonly { base64: string; json(): object }[]
  /** Time from which the program refuses the transactions. */
  expiresAt: Date
}
