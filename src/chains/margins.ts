/** Margins on what is quoted, or signed, and may have risen when it is paid: percent on top. */
export const MARGIN_PERCENT = {
  /** Gas of a delivery on the hub, in the price of a registration on Solana. */
  delivery: 25,
  /** Gas of a transaction on an EVM chain, beyond its estimate. */
  gas: 25,
  /** Compute units of a transaction on Solana, beyond its simulation. */
  units: 10,
}

/** An amount with a margin. Others: the bridge's in the chains file, a resent transaction's in gasFees.ts. */
export const withMargin = (amount: bigint, percent: number): bigint => (amount * BigInt(100 + percent)) / 100n
