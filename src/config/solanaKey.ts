import { z } from 'zod'
import { decodeBase58 } from '../registry/primitives/base58.js'
import { ed25519PublicKey } from '../registry/primitives/ed25519.js'
import { ConfigError } from './error.js'
import { contentOf } from './secretFiles.js'

const SECRET_KEY_BYTES = 64
const SEED_BYTES = 32
/** `[12,255,…]` as Solana's own tools write it. */
const jsonKey = z.array(z.int().min(0).max(255))

/**
 * Reads the secret key of a Solana account as wallets (base58) and Solana's tools (a JSON array of numbers) write it:
 * the 32 bytes of the seed (RFC 8032) and the 32 of the public key.
 * @returns the 64 bytes, null for anything else, also where the halves don't belong together
 */
export function parseSolanaSecretKey(input: string): Uint8Array | null {
  const text = input.trim()
  const key = text.startsWith('[') ? fromJson(text) : decodeBase58(text, SECRET_KEY_BYTES)
  if (key?.length !== SECRET_KEY_BYTES) return null
  const publicKey = ed25519PublicKey(key.subarray(0, SEED_BYTES))
  return publicKey.every((byte, i) => byte === key[SEED_BYTES + i]) ? Uint8Array.from(key) : null
}

function fromJson(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(jsonKey.parse(JSON.parse(text)))
  } catch {
    return null
  }
}

/** 64 bytes. @param name of the variable or option @throws ConfigError */
export function solanaKeyIn(file: string, name: string): Uint8Array {
  const key = parseSolanaSecretKey(contentOf(file, name))
  if (!key) throw new ConfigError(`${name} holds no secret key of a Solana account.`)
  return key
}
