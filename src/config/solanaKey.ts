import { ed25519 } from '@noble/curves/ed25519'
import bs58 from 'bs58'

const SECRET_KEY_BYTES = 64
const SEED_BYTES = 32
// 64 bytes are 64 to 88 base58 characters; the length is checked before decoding because decoding is quadratic
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
/** `[12,255,…]` as Solana's own tools write it, with room for spaces. */
const JSON_MAX_CHARS = 1_000

/**
 * Reads the secret key of a Solana account as wallets (base58) and Solana's tools (a JSON array of numbers) write it: the
 * 32 bytes of the seed (RFC 8032) and the 32 of the public key.
 * @returns the 64 bytes, null for anything else, also where the halves don't belong together
 */
export function parseSolanaSecretKey(input: string): Uint8Array | null {
  const text = input.trim()
  const key = text.startsWith('[') ? fromJson(text) : fromBase58(text)
  if (key?.length !== SECRET_KEY_BYTES) return null
  const publicKey = ed25519.getPublicKey(key.subarray(0, SEED_BYTES))
  return publicKey.every((byte, i) => byte === key[SEED_BYTES + i]) ? key : null
}

const fromBase58 = (text: string): Uint8Array | null => (BASE58.test(text) ? bs58.decode(text) : null)

function fromJson(text: string): Uint8Array | null {
  if (text.length > JSON_MAX_CHARS) return null
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  const isByte = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
  return Array.isArray(json) && json.every(isByte) ? Uint8Array.from(json) : null
}
