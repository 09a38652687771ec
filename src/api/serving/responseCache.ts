import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Network } from '../../registry/primitives/network.js'
import type { Answer, HttpMessage } from '../http/answer.js'
import type { BatchedLookups } from '../http/batches.js'
import type { CacheSource } from '../http/route.js'

/** Maximum bytes of all cached texts. */
const MAX_TOTAL_BYTES = 8 * 1_024 * 1_024
/** A smaller response counts as this many bytes, which bounds the cache to 8,192 responses. */
const MIN_COUNTED_BYTES = 1_024
/**
 * Size limits of a cached response: characters of its request, and bytes of its text. 8,192 bytes are about ten events
 * of the feed.
 */
const MAX_KEY_CHARS = 256
const MAX_TEXT_BYTES = 8_192
/**
 * Maximum age of a cached response, in case a change does not increase the journal's counters. `ttlResolution` limits
 * lru-cache to one timer a second.
 */
const EXPIRY_OPTIONS = { ttl: 60_000, ttlResolution: 1_000 }

/** A response and the message that sends it. */
export interface CachedResponse {
  answer: Answer
  message: HttpMessage
  /** Units to charge a request that gets this response. */
  cost: number
}

/**
 * Cache key of a request; null for a request that is not cached: of too many characters, or with an encoded body.
 * @param body undefined where the request has none
 */
function cacheKeyOf(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer | undefined,
): string | null {
  if (url.length + (body?.length ?? 0) > MAX_KEY_CHARS || headers['content-encoding'] !== undefined)
    return null
  return body === undefined ? `${method} ${url}` : `${method} ${url} ${body.toString('latin1')}`
}

/** Key and version under which a response is cached, with the cached response itself if there is one. */
interface CachePlace {
  key: string
  /** Version of the data that the response depends on; null where no version was read. */
  version: string | null
  response: CachedResponse | null
}

/**
 * Creates the response cache. Each response is stored with the version of the data that it depends on. Concurrent
 * requests share one read of the version, which starts after they arrived, so no response is older than the last
 * commit before its request.
 */
export function createResponseCache(batches: Readonly<Record<Network, BatchedLookups>>) {
  const entries = new LRUCache<string, CachedResponse & { version: string | null }>({
    // `max` is not set, because lru-cache would then allocate room for all entries at once
    maxSize: MAX_TOTAL_BYTES,
    sizeCalculation: ({ message }) => Math.max(MIN_COUNTED_BYTES, message.bytes),
    ...EXPIRY_OPTIONS,
  })
  return {
    /**
     * Finds the cached response of a request, if the data has not changed since the response was made. The first
     * request for a key does not wait for the version of the data, so its response is not reused.
     * @returns null for a request whose responses are never cached
     */
    async find(
      request: IncomingMessage,
      body: Buffer | undefined,
      network: Network,
      by: CacheSource,
    ): Promise<CachePlace | null> {
      const key = cacheKeyOf(request, body)
      if (key === null) return null
      const entry = entries.get(key)
      if (!entry) return { key, version: null, response: null }
      const versions = await batches[network].version()
      const version =
        by === 'journal' ? versions.version : `${versions.version} ${versions.factsVersion}`
      return { key, version, response: entry.version === version ? entry : null }
    },
    /**
     * Stores a response under the data version that was read before the response was made. A change of the data after
     * that read outdates the response. Transient responses and responses that are too large are not stored.
     */
    set({ key, version }: CachePlace, made: CachedResponse): void {
      if (made.answer.isTransient || made.message.bytes > MAX_TEXT_BYTES) entries.delete(key)
      else entries.set(key, { ...made, version })
    },
  }
}
