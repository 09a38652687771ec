import { gcmsiv } from '@noble/ciphers/aes.js'
import type { FeedOrder } from '../../db/feed/feed.js'
import { NETWORK_CODE, NETWORKS, type Network } from '../../registry/primitives/network.js'

/** Position and parameters of a walk. In a walk a client reads the feed page by page, in one order. */
export interface PagePosition {
  network: Network
  generation: number
  order: FeedOrder
  /**
   * Event number at which the walk continues: the next entry is the first one, in the walk's order, whose first event
   * has this number or a later one (newest order: an earlier one).
   */
  first: number
  /** Number of events of the next entry, in the order of the walk, that earlier pages returned or filtered out. */
  skip: number
  /** Lowest event number of the walk. */
  floor: number
  /** Stored address of the actor, null for all actors. */
  from: Buffer | null
  /**
   * Time bound of the walk, Unix ms. Null without a bound, and once the bound has been replaced by an event number
   * (`floor`).
   */
  sinceMs: number | null
}

/** Start of a walk from the oldest event. */
export const FEED_BEGINNING = {
  order: 'oldest',
  first: 1,
  skip: 0,
  floor: 1,
  from: null,
  sinceMs: null,
} as const satisfies Partial<PagePosition>

const VERSION = 4
const FLAG = { newest: 1, since: 2, from: 4 }
const TAG_BYTES = 16
/** Fixed, so that equal positions give equal tokens. AES-256-GCM-SIV (RFC 8452) stays secure when a nonce repeats. */
const NONCE = new Uint8Array(12)
const HEAD_BYTES = 35
/** A byte for the type, and the longest address: 90 characters of bech32 (BIP 173). */
const MAX_FROM_BYTES = 91
const MAX_TOKEN_CHARS = Math.ceil(((HEAD_BYTES + MAX_FROM_BYTES + TAG_BYTES) * 4) / 3)

/**
 * Encrypts a position into a page token: base64url of version u8, network u8, flags u8, generation u32, first u64,
 * skip u32, floor u64, sinceMs u64 and the actor's stored address, encrypted and authenticated with AES-256-GCM-SIV.
 * The numbers are event numbers. Journal numbers would reveal how many private entries there are, and would give
 * equal positions different tokens.
 * @param key 32 bytes
 */
export function encryptPageToken(key: Buffer, page: PagePosition): string {
  const head = Buffer.alloc(HEAD_BYTES)
  head[0] = VERSION
  head[1] = NETWORK_CODE[page.network]
  head[2] =
    (page.order === 'newest' ? FLAG.newest : 0) |
    (page.sinceMs !== null ? FLAG.since : 0) |
    (page.from ? FLAG.from : 0)
  head.writeUInt32BE(page.generation, 3)
  head.writeBigUInt64BE(BigInt(page.first), 7)
  head.writeUInt32BE(page.skip, 15)
  head.writeBigUInt64BE(BigInt(page.floor), 19)
  head.writeBigUInt64BE(BigInt(page.sinceMs ?? 0), 27)
  const content = page.from ? Buffer.concat([head, page.from]) : head
  return Buffer.from(gcmsiv(key, NONCE).encrypt(content)).toString('base64url')
}

/**
 * Decrypts a page token. Null for a token of another service and for an altered token. A token of an earlier format
 * gets generation 0, which no feed has.
 */
export function decryptPageToken(key: Buffer, token: string): PagePosition | null {
  if (token.length > MAX_TOKEN_CHARS) return null
  const bytes = Buffer.from(token, 'base64url')
  // base64 can spell the same bytes in several ways; only the canonical spelling is accepted
  if (bytes.length < HEAD_BYTES + TAG_BYTES || bytes.toString('base64url') !== token) return null
  const content = decryptOrNull(key, bytes)
  const network = NETWORKS.find((candidate) => NETWORK_CODE[candidate] === content?.[1])
  if (!content || !network) return null
  const flags = content[2]!
  return {
    network,
    generation: content[0] === VERSION ? content.readUInt32BE(3) : 0,
    order: flags & FLAG.newest ? 'newest' : 'oldest',
    first: Number(content.readBigUInt64BE(7)),
    skip: content.readUInt32BE(15),
    floor: Number(content.readBigUInt64BE(19)),
    from: flags & FLAG.from ? Buffer.from(content.subarray(HEAD_BYTES)) : null,
    sinceMs: flags & FLAG.since ? Number(content.readBigUInt64BE(27)) : null,
  }
}

function decryptOrNull(key: Buffer, bytes: Buffer): Buffer | null {
  try {
    return Buffer.from(gcmsiv(key, NONCE).decrypt(bytes))
  } catch {
    return null
  }
}
