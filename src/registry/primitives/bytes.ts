/** Byte helpers shared by the rules. Byte strings are Node Buffers. As Map keys they are latin1 texts. */

/** The same bytes as a Buffer, without a copy. */
const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Map key of a byte string: latin1, one character per byte, the cheapest exact text. */
export const mapKey = (bytes: Uint8Array): string => bufferOf(bytes).toString('latin1')

/** The bytes of a `0x` hex string, whose form the caller has checked. */
export const fromHex = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')

/** `0x` hex of bytes, lower case. */
export const toHex = (bytes: Uint8Array): `0x${string}` => `0x${bufferOf(bytes).toString('hex')}`

/** A big-endian 32-byte word as an unsigned integer. */
export function wordToBigInt(word: Uint8Array): bigint {
  // fast path without hex text, for nearly all amounts, because the conversion runs once per log
  for (let i = 0; i < word.length - 16; i++) if (word[i] !== 0) return BigInt(toHex(word))
  if (word.length < 16) return BigInt(toHex(word))
  const low = new DataView(word.buffer, word.byteOffset + word.length - 16, 16)
  return (low.getBigUint64(0) << 64n) | low.getBigUint64(8)
}

/** Word of an unsigned integer, big-endian. @throws RangeError outside 0 to 2^256 - 1 */
export function bigIntToWord(value: bigint): Buffer {
  if (value >> 256n !== 0n) throw new RangeError(`${value} does not fit an unsigned 256-bit word`)
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

/** Look-up key of a transaction: the first 8 bytes of its hash or signature. Not unique: readers compare the whole. */
export const txKeyOfHash = (hash: Buffer): bigint => hash.readBigInt64BE(0)
