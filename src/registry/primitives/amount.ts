/** 0.01 ETH. Used unless the minimum bid is higher. */
const DEFAULT_AMOUNT_WEI = 10_000_000_000_000_000n

/** Amount of a bid whose request gives no amount. @param minimumWei minimum bid of the hub */
export const defaultAmountWei = (minimumWei: bigint): bigint =>
  minimumWei > DEFAULT_AMOUNT_WEI ? minimumWei : DEFAULT_AMOUNT_WEI

const DECIMAL_PATTERN = /^(0|[1-9][0-9]{0,77})$/

/**
 * Parses an amount in wei: a decimal string without sign, spaces, exponent, hex or leading zeros. Null for any other
 * text, and for 2^256 or more.
 */
export function parseAmountWei(input: unknown): bigint | null {
  if (typeof input !== 'string' || !DECIMAL_PATTERN.test(input)) return null
  const value = BigInt(input)
  return value >> 256n === 0n ? value : null
}
