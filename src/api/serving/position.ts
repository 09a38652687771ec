import { randomBytes } from 'node:crypto'
import { gcmsiv } from '@noble/ciphers/aes.js'
import type { JournalPosition } from '../../db/deployment/replication.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/** Header of an answer to a change, and of requests whose answers are to know of it. */
export const POSITION_HEADER = 'x-clusterd-position'

/** Parts these tokens from page tokens, which the same key seals. */
const KIND = 0x70
const BYTES = 14
const TAG_BYTES = 16
const NONCE_BYTES = 12

/**
 * Seals a place in the journal: base64url of a nonce of its own, then of kind u8, network u8, generation u32 and
 * sequence u64, encrypted and authenticated with AES-256-GCM-SIV (RFC 8452), since sequences count private entries too.
 * Under one nonce equal places would be equal tokens, and a new token would tell of a private entry.
 * @param key 32 bytes
 */
export function sealPosition(key: Buffer, network: Network, { generation, seq }: JournalPosition): string {
  const content = Buffer.alloc(BYTES)
  content.writeUInt8(KIND, 0)
  content.writeUInt8(NETWORK_CODE[network], 1)
  content.writeUInt32BE(generation, 2)
  content.writeBigUInt64BE(BigInt(seq), 6)
  const nonce = randomBytes(NONCE_BYTES)
  return Buffer.concat([nonce, gcmsiv(key, nonce).encrypt(content)]).toString('base64url')
}

/** Opens such a token; null for anything else, and for another network's. */
export function openPosition(key: Buffer, network: Network, token: unknown): JournalPosition | null {
  if (typeof token !== 'string' || token.length > 64) return null
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== NONCE_BYTES + BYTES + TAG_BYTES) return null
  try {
    const content = Buffer.from(gcmsiv(key, bytes.subarray(0, NONCE_BYTES)).decrypt(bytes.subarray(NONCE_BYTES)))
    if (content[0] !== KIND || content[1] !== NETWORK_CODE[network]) return null
    return { generation: content.readUInt32BE(2), seq: Number(content.readBigUInt64BE(6)) }
  } catch {
    return null
  }
}
