const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BASE = 58
/** Digits of characters by their codes; 255 for what is none. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)))
/** Characters of a step: the most whose value a number holds exactly. */
const STEP = 9
const STEP_VALUE = BigInt(BASE) ** BigInt(STEP)
/** Characters per byte: log 256 / log 58. */
const CHARS_PER_BYTE = Math.log(256) / Math.log(BASE)

/**
 * Decodes base58 text of exactly `bytes` bytes. The length is checked first because decoding is quadratic: n bytes take
 * n characters (all zero) to ⌈1.37 n⌉.
 * @returns null for any other text
 */
export function decodeBase58(text: string, bytes: number): Buffer | null {
  if (text.length < bytes || text.length > Math.ceil(bytes * CHARS_PER_BYTE)) return null
  const decoded = base58Bytes(text)
  return decoded?.length === bytes ? decoded : null
}

/**
 * Decodes base58 text, whose length the caller has bounded. Nine characters a step: bs58, which takes one, needs twenty
 * times as long for an event of Solana.
 * @returns null for text with other characters
 */
export function base58Bytes(text: string): Buffer | null {
  let value = 0n
  for (let at = 0, end = text.length % STEP || STEP; at < text.length; end += STEP) {
    let part = 0
    for (; at < end; at++) {
      const digit = DIGITS[text.charCodeAt(at)] ?? 255
      if (digit === 255) return null
      part = part * BASE + digit
    }
    value = value * STEP_VALUE + BigInt(part)
  }
  const zeros = text.length - text.replace(/^1+/, '').length
  const digits = value === 0n ? '' : value.toString(16)
  return Buffer.from('00'.repeat(zeros) + '0'.repeat(digits.length % 2) + digits, 'hex')
}
