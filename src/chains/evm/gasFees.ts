/** Fees that a transaction offers (EIP-1559), wei per unit of gas. */
export interface GasFees {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** Minimum priority fee. A chain without priority fees (an empty local chain) reports 0, which no factor can raise. */
export const MIN_PRIORITY_FEE_WEI = 1_000_000n
/** Factor by which the base fee may rise before it exceeds the transaction's fees: about six full blocks in a row. */
const BASE_FEE_FACTOR = 2n
/**
 * Fees of a replacement, in percent of the earlier fees. Nodes accept a replacement only if both fee fields rise by at
 * least 10 % (geth's price bump; other clients ask no more).
 */
const REPLACEMENT_FEE_PERCENT = 110n
/**
 * Factor by which fees rise for each further attempt to send a transaction that no mempool accepted. Such a transaction
 * can be replaced at any price, and five doublings reach thirty times the price.
 */
const RETRY_FEE_FACTOR = 2n

/**
 * Fees for a transaction that should be in one of the next blocks.
 * @param baseFeeWei base fee of the next block
 * @param tipsWei priority fees of recent blocks, one value per block (eth_feeHistory); may be empty
 * @param suggestedWei priority fee that the node suggests: in quiet blocks it is higher than the fees paid
 */
export function estimateGasFees(
  baseFeeWei: bigint,
  tipsWei: readonly bigint[],
  suggestedWei: bigint = 0n,
): GasFees {
  const tip = max(max(median(tipsWei), suggestedWei), MIN_PRIORITY_FEE_WEI)
  return { maxFeePerGas: BASE_FEE_FACTOR * baseFeeWei + tip, maxPriorityFeePerGas: tip }
}

/** The base fee of the next block, calculated from the fees that `estimateGasFees` returned. */
export const baseFeePerGasOf = ({ maxFeePerGas, maxPriorityFeePerGas }: GasFees): bigint =>
  (maxFeePerGas - maxPriorityFeePerGas) / BASE_FEE_FACTOR

/**
 * Fees that replace a transaction in the mempool. Each field is 10 % higher than before, or that of a fresh estimate,
 * limited by the cap, where the estimate is higher.
 * @param capWei highest price of a unit of gas
 * @returns null where 10 % more is above the cap
 */
export function replacementGasFees(
  previous: GasFees,
  fresh: GasFees,
  capWei: bigint,
): GasFees | null {
  const least = capGasFees(fresh, capWei) ?? previous
  const maxFeePerGas = raisedFee(previous.maxFeePerGas, least.maxFeePerGas)
  const maxPriorityFeePerGas = raisedFee(previous.maxPriorityFeePerGas, least.maxPriorityFeePerGas)
  return maxFeePerGas > capWei ? null : { maxFeePerGas, maxPriorityFeePerGas }
}

/**
 * Fees for a transaction that no mempool accepted: twice the fees that it offered, or a fresh estimate where that is
 * higher, limited by the cap. Repeated calls bring both fields to the cap.
 * @param capWei highest price of a unit of gas
 * @returns null where the cap allows no more than was offered, or `capGasFees` gives null
 */
export function doubledGasFees(offered: GasFees, fresh: GasFees, capWei: bigint): GasFees | null {
  const least = capGasFees(fresh, capWei)
  if (!least) return null

  const maxFeePerGas = min(capWei, max(RETRY_FEE_FACTOR * offered.maxFeePerGas, least.maxFeePerGas))
  const tip = max(RETRY_FEE_FACTOR * offered.maxPriorityFeePerGas, least.maxPriorityFeePerGas)
  const maxPriorityFeePerGas = min(maxFeePerGas, tip)
  const isMore =
    maxFeePerGas > offered.maxFeePerGas || maxPriorityFeePerGas > offered.maxPriorityFeePerGas
  return isMore ? { maxFeePerGas, maxPriorityFeePerGas } : null
}

/**
 * Limits an estimate to a cap on the price of a unit of gas.
 * @returns null where the base fee with the minimum tip is above the cap: the transaction would not be mined
 */
export function capGasFees(estimate: GasFees, capWei: bigint): GasFees | null {
  if (baseFeePerGasOf(estimate) + MIN_PRIORITY_FEE_WEI > capWei) return null
  const maxFeePerGas = min(estimate.maxFeePerGas, capWei)
  return { maxFeePerGas, maxPriorityFeePerGas: min(estimate.maxPriorityFeePerGas, maxFeePerGas) }
}

const MIN_DEFAULT_CAP_WEI = 1_000_000_000n
const DEFAULT_CAP_FACTOR = 20n

/**
 * The highest gas price to pay where no cap is configured: twenty times the median price of recent blocks, or twenty
 * times the tip that the node suggests where that is higher. At least 1 gwei.
 */
export const defaultGasPriceCapWei = (
  pricesWei: readonly bigint[],
  suggestedWei: bigint = 0n,
): bigint => max(MIN_DEFAULT_CAP_WEI, DEFAULT_CAP_FACTOR * max(median(pricesWei), suggestedWei))

const raisedFee = (previous: bigint, fresh: bigint): bigint =>
  max(max((previous * REPLACEMENT_FEE_PERCENT + 99n) / 100n, previous + 1n), fresh)

export const maxTransactionCostWei = (gas: bigint, fees: GasFees, valueWei: bigint): bigint =>
  gas * fees.maxFeePerGas + valueWei

const median = (values: readonly bigint[]): bigint =>
  values.toSorted((a, b) => (a < b ? -1 : 1))[values.length >> 1] ?? 0n
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
