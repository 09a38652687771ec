import type { ChainConfig } from '../config/index.js'

/** Margins on what is quoted, or signed, and may have risen when it is paid: percent on top. */
const PERCENT = {
  /** Gas of a delivery on the hub, in the price of a registration that is paid on another chain. */
  delivery: 25,
  /** Gas of a transaction on an EVM chain, beyond its estimate. */
  gas: 25,
  /** Compute units of a transaction, beyond its simulation. */
  units: 10,
}
/** By name, or the bridge's of a chain. That of a resent transaction is in gasFees.ts. */
export type Margin = keyof typeof PERCENT | Pick<ChainConfig, 'bridgeMarginPercent'>

/** An amount with a margin. */
export const withMargin = (amount: bigint, margin: Margin): bigint =>
  (amount *
    BigInt(100 + (typeof margin === 'string' ? PERCENT[margin] : margin.bridgeMarginPercent))) /
  100n
