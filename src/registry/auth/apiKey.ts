import bs58 from 'bs58'
import { decodeBase58 } from '../primitives/base58.js'
import { sha256 } from '../primitives/sha256.js'

/** API keys raise the rate limit and grant no access. Only the hash of a key is stored. */

export const API_KEY_BYTES = 32
const KEY_PREFIX = 'ck_'

/** Text of an API key. @param bytes 32 random bytes */
export const apiKeyText = (bytes: Uint8Array): string => KEY_PREFIX + bs58.encode(bytes)

/** Look-up hash of an API key; null for any other text. @returns 32 bytes */
export function apiKeyHash(text: string): Buffer | null {
  if (!text.startsWith(KEY_PREFIX) || !decodeBase58(text.slice(KEY_PREFIX.length), API_KEY_BYTES))
    return null
  return sha256(Buffer.from(text))
}

const ID_BYTES = 8

/** Id that lists show for an API key, derived from the hash of the key. @returns 16 hex digits */
export const apiKeyId = (hash: Buffer): string => hash.subarray(0, ID_BYTES).toString('hex')
