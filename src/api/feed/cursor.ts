import { gcmsiv } from '@noble/ciphers/aes.js'
import type { FeedOrder } from '../../db/feed/feed.js'
import { NETWORK_CODE, NETWORKS, type Network } from '../../registry/primitives/network.js'

/** Position and parameters of a walk. In a walk a client reads the feed page by page, in one order. */
export interface PagePosition {
  network: Network
  generation: number
  order: FeedOrder
  /**
   * Event number at which the walk continues. The next journal entry is the nearest one whose first event has this
   * number or, if there is none, a higher one. In newest order: a lower one.
   */
  first: number
  /** Number of events of that entry, counted in the walk's order, that earlier pages returned or filtered out. */
  skip: number
  /** Lowest event number of the walk. */
  floor: number
  /** Stored address of the actor, null for all actors. */
  from: Buffer | null
  /**
   * Time before which events are not shown, Unix ms. Null where the walk has no such bound, and once `floor` has the
   * number of the first event at or after that time.
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

const TOKEN_VERSION = 4
const TOKEN_FLAG = { newest: 1, since: 2, from: 4 }
const TOKEN_TAG_BYTES = 16
/** Fixed, so that equal positions give equal tokens. AES-256-GCM-SIV (RFC 8452) stays secure when a nonce repeats. */
const TOKEN_NONCE = new Uint8Array(12)
/** Length of a token's content before the actor's address. */
const TOKEN_HEAD_BYTES = 35
/** Length of the longest stored address: a byte for the type, and 90 characters of bech32 (BIP 173). */
const MAX_FROM_BYTES = 91
const MAX_TOKEN_CHARS = Math.ceil(((TOKEN_HEAD_BYTES + MAX_FROM_BYTES + TOKEN_TAG_BYTES) * 4) / 3)

/**
 * Encrypts a position into a page token: base64url of version u8, network u8, flags u8, generation u32, first u64,
 * skip u32, floor u64, sinceMs u64 and the actor's stored address, encrypted and authenticated with AES-256-GCM-SIV.
 * `first` and `floor` are event numbers, because journal numbers would reveal how many private entries there are.
 * @param key 32 bytes
 */
export function encryptPageToken(key: Buffer, page: PagePosition): string {
  const head = Buffer.alloc(TOKEN_HEAD_BYTES)
  head[0] = TOKEN_VERSION
  head[1] = NETWORK_CODE[page.network]
  head[2] =
    (page.order === 'newest' ? TOKEN_FLAG.newest : 0) |
    (page.sinceMs !== null ? TOKEN_FLAG.since : 0) |
    (page.from ? TOKEN_FLAG.from : 0)
  head.writeUInt32BE(page.generation, 3)
  head.writeBigUInt64BE(BigInt(page.first), 7)
  head.writeUInt32BE(page.skip, 15)
  head.writeBigUInt64BE(BigInt(page.floor), 19)
  head.writeBigUInt64BE(BigInt(page.sinceMs ?? 0), 27)
  const content = page.from ? Buffer.concat([head, page.from]) : head
  return Buffer.from(gcmsiv(key, TOKEN_NONCE).encrypt(content)).toString('base64url')
}

/**
 * Decrypts a page token. Null for a token of another service and for an altered token. A token of an earlier format
 * gets generation 0, which no feed has.
 */
export function decryptPageToken(key: Buffer, token: string): PagePosition | null {
  if (token.length > MAX_TOKEN_CHARS) return null
  const bytes = Buffer.from(token, 'base64url')
  // several texts of base64url decode to the same bytes. Only the text that `encryptPageToken` writes is accepted
  if (bytes.length < TOKEN_HEAD_BYTES + TOKEN_TAG_BYTES || bytes.toString('base64url') !== token)
    return null
  const content = decryptOrNull(key, bytes)
  const network = NETWORKS.find((candidate) => NETWORK_CODE[candidate] === content?.[1])
  if (!content || !network) return null
  const flags = content[2]!
  return {
    network,
    generation: content[0] === TOKEN_VERSION ? content.readUInt32BE(3) : 0,
    order: flags & TOKEN_FLAG.newest ? 'newest' : 'oldest',
    first: Number(content.readBigUInt64BE(7)),
    skip: content.readUInt32BE(15),
    floor: Number(content.readBigUInt64BE(19)),
    from: flags & TOKEN_FLAG.from ? Buffer.from(content.subarray(TOKEN_HEAD_BYTES)) : null,
    sinceMs: flags & TOKEN_FLAG.since ? Number(content.readBigUInt64BE(27)) : null,
  }
}

function decryptOrNull(key: Buffer, bytes: Buffer): Buffer | null {
  try {
    return Buffer.from(gcmsiv(key, TOKEN_NONCE).decrypt(bytes))
  } catch {
    return null
  }
}
