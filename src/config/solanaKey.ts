import { z } from 'zod'
import { decodeBase58 } from '../registry/primitives/base58.js'
import { ed25519PublicKey } from '../registry/primitives/ed25519.js'
import { ConfigError } from './error.js'
import { readSecretFile } from './secretFiles.js'

const SECRET_KEY_BYTES = 64
const SEED_BYTES = 32
/** Schema of a secret key in the form of Solana's own tools: `[12,255,…]`. */
const jsonKeySchema = z.array(z.int().min(0).max(255))

/**
 * Reads the secret key of a Solana account in the form of wallets (base58) or of Solana's tools (a JSON array of
 * numbers): the 32 bytes of the seed (RFC 8032) and the 32 bytes of the public key.
 * @returns the 64 bytes; null for anything else, also where the public key does not belong to the seed
 */
export function parseSolanaSecretKey(input: string): Uint8Array | null {
  const text = input.trim()
  const key = text.startsWith('[') ? keyFromJson(text) : decodeBase58(text, SECRET_KEY_BYTES)
  if (key?.length !== SECRET_KEY_BYTES) return null
  const publicKey = ed25519PublicKey(key.subarray(0, SEED_BYTES))
  return publicKey.every((byte, i) => byte === key[SEED_BYTES + i]) ? Uint8Array.from(key) : null
}

function keyFromJson(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(jsonKeySchema.parse(JSON.parse(text)))
  } catch {
    return null
  }
}

/** Reads the file of a secret key. @param name of the variable or option @returns 64 bytes @throws ConfigError */
export function readSolanaKeyFile(file: string, name: string): Uint8Array {
  const key = parseSolanaSecretKey(readSecretFile(file, name))
  if (!key) throw new ConfigError(`${name} holds no secret key of a Solana account.`)
  return key
}
