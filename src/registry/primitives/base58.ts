import bs58 from 'bs58'

const CHARS_PER_BYTE = Math.log(256) / Math.log(58)

/**
 * Decodes base58 text of exactly `bytes` bytes. The length is checked first, because decoding is quadratic. n bytes
 * have between n characters (all zero) and ⌈1.37 n⌉.
 * @returns null for any other text
 */
export function decodeBase58(text: string, bytes: number): Buffer | null {
  if (text.length < bytes || text.length > Math.ceil(bytes * CHARS_PER_BYTE)) return null
  const decoded = bs58.decodeUnsafe(text)
  return decoded?.length === bytes ? Buffer.from(decoded) : null
}
