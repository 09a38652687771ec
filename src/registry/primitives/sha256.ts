import { createHash } from 'node:crypto'

/** SHA-256 of concatenated parts. @returns 32 bytes */
export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** RIPEMD-160 of the SHA-256. Bitcoin and Cosmos hash public keys to addresses with it. @returns 20 bytes */
export const hash160 = (bytes: Uint8Array): Buffer =>
  createHash('ripemd160').update(sha256(bytes)).digest()
