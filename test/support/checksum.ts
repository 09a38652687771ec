/**
 * Breaks the checksum of an address by the case of one letter. The result has letters of both cases, because an address
 * in a single case has no checksum (EIP-55).
 */
export function breakChecksum(address: string): string {
  const digits = address.slice(2)
  for (const [i, digit] of [...digits].entries()) {
    const other = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase()
    const flipped = digits.slice(0, i) + other + digits.slice(i + 1)
    if (other !== digit && /[a-f].*[A-F]|[A-F].*[a-f]/.test(flipped)) return `0x${flipped}`
  }
  throw new Error(`${address} has too few letters.`)
}
