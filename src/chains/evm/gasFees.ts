/** Fees that a transaction offers (EIP-1559), wei per unit of gas. */
export interface Fees {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** Least tip. Chains that report none (an empty local chain) would give 0, which no factor ever raises. */
export const MIN_PRIORITY_FEE_WEI = 1_000_000n
/** Room for the base fee to rise: six full blocks in a row. */
const BASE_FEE_FACTOR = 2n
/** Nodes take a replacement only if both fields rise by at least 10 % (geth's price bump; others ask no more). */
const BUMP_PERCENT = 110n
/** Upper bound of a replacement's price, as a multiple of a fresh estimate's. */
const MAX_FRESH_FACTOR = 3n

/**
 * Fees for a transaction that should be in one of the next blocks.
 * @param baseFeeWei base fee of the next block
 * @param tipsWei priority fees of recent blocks, one value per block (eth_feeHistory); may be empty
 */
export function estimateFees(baseFeeWei: bigint, tipsWei: readonly bigint[]): Fees {
  const tip = max(median(tipsWei), MIN_PRIORITY_FEE_WEI)
  return { maxFeePerGas: BASE_FEE_FACTOR * baseFeeWei + tip, maxPriorityFeePerGas: tip }
}

/** The base fee of the next block, from an estimate. */
export const baseFeeOf = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees): bigint =>
  (maxFeePerGas - maxPriorityFeePerGas) / BASE_FEE_FACTOR

const priceAt = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees, baseFeeWei: bigint): bigint =>
  min(maxFeePerGas, baseFeeWei + maxPriorityFeePerGas)

/**
 * Fees of a replacement within bounds.
 * @param fresh an estimate
 * @param capWei the most that a unit of gas may cost
 * @returns null when its price would exceed three times the fresh estimate's, or the cap: the last one offers enough,
 * or nothing may be offered
 */
export function bumpFees(previous: Fees, fresh: Fees, capWei: bigint): Fees | null {
  const raised = outbid(previous, fresh, capWei)
  const baseFeeWei = baseFeeOf(fresh)
  const isTooMuch =
    raised === null ||
    raised.maxFeePerGas > MAX_FRESH_FACTOR * fresh.maxFeePerGas ||
    priceAt(raised, baseFeeWei) > MAX_FRESH_FACTOR * priceAt(fresh, baseFeeWei)
  return isTooMuch ? null : raised
}

/**
 * Fees with which a transaction is replaced by whatever it costs up to a cap: both fields 10 % up, or a fresh estimate
 * where that is more; null where the cap would be exceeded.
 */
export function outbid(previous: Fees, fresh: Fees, capWei: bigint): Fees | null {
  const least = capFees(fresh, capWei) ?? previous
  const maxFeePerGas = raise(previous.maxFeePerGas, least.maxFeePerGas)
  const maxPriorityFeePerGas = raise(previous.maxPriorityFeePerGas, least.maxPriorityFeePerGas)
  return maxFeePerGas > capWei ? null : { maxFeePerGas, maxPriorityFeePerGas }
}

/**
 * An estimate within a cap on the price of a unit of gas.
 * @returns null where the base fee alone is above it: nothing would be mined
 */
export function capFees(estimate: Fees, capWei: bigint): Fees | null {
  if (baseFeeOf(estimate) + MIN_PRIORITY_FEE_WEI > capWei) return null
  const maxFeePerGas = min(estimate.maxFeePerGas, capWei)
  return { maxFeePerGas, maxPriorityFeePerGas: min(estimate.maxPriorityFeePerGas, maxFeePerGas) }
}

const LEAST_CAP_WEI = 1_000_000_000n
const CAP_FACTOR = 20n

/** The highest price to pay by the prices of recent blocks: twenty times their median, 1 gwei at least. */
export const priceCapWei = (pricesWei: readonly bigint[]): bigint =>
  max(LEAST_CAP_WEI, CAP_FACTOR * median(pricesWei))

const raise = (previous: bigint, fresh: bigint): bigint =>
  max(max((previous * BUMP_PERCENT + 99n) / 100n, previous + 1n), fresh)

export const maxCostWei = (gas: bigint, fees: Fees, valueWei: bigint): bigint =>
  gas * fees.maxFeePerGas + valueWei

const median = (values: readonly bigint[]): bigint =>
  values.toSorted((a, b) => (a < b ? -1 : 1))[values.length >> 1] ?? 0n
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
