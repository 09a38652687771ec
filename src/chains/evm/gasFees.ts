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
/** What no pool took is in none, so any price may follow: doubling finds a floor of thirty times as much in five steps. */
const OFFER_FACTOR = 2n

/**
 * Fees for a transaction that should be in one of the next blocks.
 * @param baseFeeWei base fee of the next block
 * @param tipsWei priority fees of recent blocks, one value per block (eth_feeHistory); may be empty
 * @param demandWei the tip that the node itself asks for: quiet blocks show less than its pool takes
 */
export function estimateFees(
  baseFeeWei: bigint,
  tipsWei: readonly bigint[],
  demandWei: bigint = 0n,
): Fees {
  const tip = max(max(median(tipsWei), demandWei), MIN_PRIORITY_FEE_WEI)
  return { maxFeePerGas: BASE_FEE_FACTOR * baseFeeWei + tip, maxPriorityFeePerGas: tip }
}

/** The base fee of the next block, from an estimate. */
export const baseFeeOf = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees): bigint =>
  (maxFeePerGas - maxPriorityFeePerGas) / BASE_FEE_FACTOR

/**
 * Fees that replace a transaction which a pool holds: both fields 10 % up, or a fresh estimate where that is more.
 * @param capWei the most that a unit of gas may cost
 * @returns null where the cap would be exceeded
 */
export function outbid(previous: Fees, fresh: Fees, capWei: bigint): Fees | null {
  const least = capFees(fresh, capWei) ?? previous
  const maxFeePerGas = raise(previous.maxFeePerGas, least.maxFeePerGas)
  const maxPriorityFeePerGas = raise(previous.maxPriorityFeePerGas, least.maxPriorityFeePerGas)
  return maxFeePerGas > capWei ? null : { maxFeePerGas, maxPriorityFeePerGas }
}

/**
 * Fees for a transaction that no pool took: twice those it offered, or a fresh estimate where that is more, and no more
 * than the cap, which both fields reach in the end.
 * @param capWei the most that a unit of gas may cost
 * @returns null where the cap allows no more than was offered
 */
export function offerAnew(offered: Fees, fresh: Fees, capWei: bigint): Fees | null {
  const least = capFees(fresh, capWei)
  if (!least) return null

  const maxFeePerGas = min(capWei, max(OFFER_FACTOR * offered.maxFeePerGas, least.maxFeePerGas))
  const tip = max(OFFER_FACTOR * offered.maxPriorityFeePerGas, least.maxPriorityFeePerGas)
  const maxPriorityFeePerGas = min(maxFeePerGas, tip)
  const isMore =
    maxFeePerGas > offered.maxFeePerGas || maxPriorityFeePerGas > offered.maxPriorityFeePerGas
  return isMore ? { maxFeePerGas, maxPriorityFeePerGas } : null
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

/**
 * The highest price to pay where none is configured: twenty times the median price of recent blocks, or the tip that
 * the node asks for where that is more; 1 gwei at least.
 */
export const priceCapWei = (pricesWei: readonly bigint[], demandWei: bigint = 0n): bigint =>
  max(LEAST_CAP_WEI, CAP_FACTOR * max(median(pricesWei), demandWei))

const raise = (previous: bigint, fresh: bigint): bigint =>
  max(max((previous * BUMP_PERCENT + 99n) / 100n, previous + 1n), fresh)

export const maxCostWei = (gas: bigint, fees: Fees, valueWei: bigint): bigint =>
  gas * fees.maxFeePerGas + valueWei

const median = (values: readonly bigint[]): bigint =>
  values.toSorted((a, b) => (a < b ? -1 : 1))[values.length >> 1] ?? 0n
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
