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
/** Upper bound of a replacement's fees, as a multiple of a fresh estimate. */
const MAX_FRESH_FACTOR = 3n

/**
 * Fees for a transaction that should be in one of the next blocks.
 * @param baseFeeWei base fee of the next block
 * @param tipsWei priority fees of recent blocks, one value per block (eth_feeHistory); may be empty
 */
export function estimateFees(baseFeeWei: bigint, tipsWei: readonly bigint[]): Fees {
  const sorted = [...tipsWei].sort((a, b) => (a < b ? -1 : 1))
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0n
  const tip = max(median, MIN_PRIORITY_FEE_WEI)
  return { maxFeePerGas: BASE_FEE_FACTOR * baseFeeWei + tip, maxPriorityFeePerGas: tip }
}

/** Fees of a replacement: both fields 10 % up, or a fresh estimate where that is more. */
export function raiseFees(previous: Fees, fresh: Fees): Fees {
  const maxPriorityFeePerGas = raise(previous.maxPriorityFeePerGas, fresh.maxPriorityFeePerGas)
  const maxFeePerGas = max(raise(previous.maxFeePerGas, fresh.maxFeePerGas), maxPriorityFeePerGas)
  return { maxFeePerGas, maxPriorityFeePerGas }
}

/**
 * Fees of a replacement within bounds.
 * @returns null when either field would exceed three times the fresh estimate: the last transaction offers enough
 */
export function bumpFees(previous: Fees, fresh: Fees): Fees | null {
  const raised = raiseFees(previous, fresh)
  const isTooMuch =
    raised.maxFeePerGas > MAX_FRESH_FACTOR * fresh.maxFeePerGas ||
    raised.maxPriorityFeePerGas > MAX_FRESH_FACTOR * fresh.maxPriorityFeePerGas
  return isTooMuch ? null : raised
}

const raise = (previous: bigint, fresh: bigint): bigint =>
  max(max((previous * BUMP_PERCENT + 99n) / 100n, previous + 1n), fresh)

/** The most that a transaction can cost its sender, wei. */
export const maxCostWei = (gas: bigint, fees: Fees, valueWei: bigint): bigint => gas * fees.maxFeePerGas + valueWei

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
