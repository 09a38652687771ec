import type { ChainConfig } from '../config/index.js'

/** Margins in percent. They are added to estimates, because the real amounts may be higher once a transaction runs. */
const MARGIN_PERCENT = {
  /** Gas of a delivery on the hub, as part of the price of a registration that is paid on another chain. */
  delivery: 25,
  /** Gas limit of an EVM transaction, on top of its estimate. */
  gas: 25,
  /** Compute units of a Solana transaction, on top of its simulation. */
  units: 10,
}

/**
 * A margin's name in `MARGIN_PERCENT`, or a chain's bridge margin. The fee increase of a resent transaction is in
 * gasFees.ts.
 */
export type PriceMargin = keyof typeof MARGIN_PERCENT | Pick<ChainConfig, 'bridgeMarginPercent'>

/** Adds a margin to an amount of any unit. Rounds down. */
export const addPriceMargin = (amount: bigint, margin: PriceMargin): bigint =>
  (amount *
    BigInt(
      100 + (typeof margin === 'string' ? MARGIN_PERCENT[margin] : margin.bridgeMarginPercent),
    )) /
  100n
