import { createCipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import type { FeedOrder } from '../../db/journal/feed.js'
import { NETWORK_CODE, NETWORKS, type Network } from '../../registry/primitives/network.js'

/** Where a walk through the feed stands, and what it is a walk through. */
export interface PagePosition {
  network: Network
  generation: number
  order: FeedOrder
  /** The entry to go on with. */
  seq: number
  /** Events of that entry, in the order of the walk, that have been given out. */
  skip: number
  /** The walk goes no lower than this entry. */
  floor: number
  /** Stored address of the actor, null for everybody's. */
  from: Buffer | null
  /** Set while nothing is as late as the asked time: it is looked for again when the token comes back. */
  sinceMs: number | null
}

const VERSION = 2
const FLAG = { newest: 1, since: 2, from: 4 }
const MAC_BYTES = 16
const HEAD_BYTES = 35
const MAX_FROM_BYTES = 64
const MAX_TOKEN_CHARS = Math.ceil(((HEAD_BYTES + MAX_FROM_BYTES + MAC_BYTES) * 4) / 3)

/**
 * A page token: base64url of version u8, network u8, flags u8, generation u32, seq u64, skip u32, floor u64, sinceMs u64 and
 * the actor's stored address, encrypted, behind 16 bytes of HMAC-SHA256 over all that, which are the cipher's first counter
 * too (a synthetic IV, as in RFC 5297): the journal's numbers count private entries and are nobody's business.
 */
export function sealPage(key: Buffer, page: PagePosition): string {
  const head = Buffer.alloc(HEAD_BYTES)
  head[0] = VERSION
  head[1] = NETWORK_CODE[page.network]
  head[2] =
    (page.order === 'newest' ? FLAG.newest : 0) | (page.sinceMs !== null ? FLAG.since : 0) | (page.from ? FLAG.from : 0)
  head.writeUInt32BE(page.generation, 3)
  head.writeBigUInt64BE(BigInt(page.seq), 7)
  head.writeUInt32BE(page.skip, 15)
  head.writeBigUInt64BE(BigInt(page.floor), 19)
  head.writeBigUInt64BE(BigInt(page.sinceMs ?? 0), 27)
  const content = page.from ? Buffer.concat([head, page.from]) : head
  const iv = mac(key, content)
  return Buffer.concat([iv, cipher(key, iv, content)]).toString('base64url')
}

/** The position in a token, null for one that we did not make or that was altered in any bit. */
export function openPage(key: Buffer, token: string): PagePosition | null {
  if (token.length > MAX_TOKEN_CHARS) return null
  const bytes = Buffer.from(token, 'base64url')
  // base64 has several spellings of the same bytes: only ours is taken
  if (bytes.length < HEAD_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return null
  const iv = bytes.subarray(0, MAC_BYTES)
  const content = cipher(key, iv, bytes.subarray(MAC_BYTES))
  if (!timingSafeEqual(mac(key, content), iv)) return null
  const network = NETWORKS.find((candidate) => NETWORK_CODE[candidate] === content[1])
  if (content[0] !== VERSION || !network) return null
  const flags = content[2]!
  return {
    network,
    generation: content.readUInt32BE(3),
    order: flags & FLAG.newest ? 'newest' : 'oldest',
    seq: Number(content.readBigUInt64BE(7)),
    skip: content.readUInt32BE(15),
    floor: Number(content.readBigUInt64BE(19)),
    from: flags & FLAG.from ? Buffer.from(content.subarray(HEAD_BYTES)) : null,
    sinceMs: flags & FLAG.since ? Number(content.readBigUInt64BE(27)) : null,
  }
}

const mac = (key: Buffer, content: Buffer): Buffer =>
  createHmac('sha256', key).update('page').update(content).digest().subarray(0, MAC_BYTES)

/** AES-256 in counter mode, which is its own inverse. */
function cipher(key: Buffer, iv: Buffer, content: Buffer): Buffer {
  const derived = createHmac('sha256', key).update('page cipher').digest()
  return createCipheriv('aes-256-ctr', derived, iv).update(content)
}
