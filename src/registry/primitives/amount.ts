/** Amounts on the wire: decimal strings of wei, no sign, spaces, exponent, hex or leading zeros, below 2^256. */
export const DEFAULT_AMOUNT_WEI = 10_000_000_000_000_000n

const DECIMAL = /^(0|[1-9][0-9]{0,77})$/

/** The amount a request names, in wei, or null when it is written in any other form or does not fit 256 bits. */
export function parseAmountWei(input: unknown): bigint | null {
  if (typeof input !== 'string' || !DECIMAL.test(input)) return null
  const value = BigInt(input)
  return value >> 256n === 0n ? value : null
}
