import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Network } from '../../registry/primitives/network.js'
import type { Answer, HttpMessage } from '../http/answer.js'
import type { BatchedLookups } from '../http/batches.js'
import type { CacheSource } from '../http/route.js'

const MAX_ANSWERS = 8_192
/** Maximum bytes of all cached texts. */
const MAX_TOTAL_BYTES = 8 * 1_024 * 1_024
/** Limits of a cached response: characters of its request, and bytes of its text, such as ten events of the feed. */
const MAX_KEY_CHARS = 256
const MAX_BYTES = 8_192
/**
 * Maximum age of a cached response, in case a change does not increase the journal's counters. `ttlResolution`: one
 * timer a second.
 */
const KEPT_MS = { ttl: 60_000, ttlResolution: 1_000 }

/** A response and the message that sends it. */
export interface CachedResponse {
  answer: Answer
  message: HttpMessage
  /** Units that a request costs that gets this response. */
  cost: number
}

/**
 * Cache key of a request; null for a request of too many characters.
 * @param body undefined where the request has none
 */
export function cacheKeyOf(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer | undefined,
): string | null {
  if (url.length + (body?.length ?? 0) > MAX_KEY_CHARS || headers['content-encoding'] !== undefined)
    return null
  return body === undefined ? `${method} ${url}` : `${method} ${url} ${body.toString('latin1')}`
}

/** A response of a key at a version of the data, as a client at an address requests it. */
export interface CacheQuery {
  key: string
  version: string
  address: string
}

/** A response that is being made. */
interface ResponseInProgress {
  version: string
  /** Address whose other requests it waits for; null where it waits for none. */
  waitsFor: string | null
  /** Null where it fails or is transient: each request makes its own. */
  made: Promise<CachedResponse | null>
}

/**
 * Creates the response cache. Each response is stored with the version of the data that it depends on. Concurrent
 * requests share one read of the version, which starts after they arrived, so no response is older than the last
 * commit before its request.
 */
export function createResponseCache(batches: Readonly<Record<Network, BatchedLookups>>) {
  const entries = new LRUCache<string, CachedResponse & { version: string | null }>({
    max: MAX_ANSWERS,
    maxSize: MAX_TOTAL_BYTES,
    sizeCalculation: ({ message }) => Math.max(1, message.bytes),
    ...KEPT_MS,
  })
  /** Responses that are being made, by key. */
  const responses = new Map<string, ResponseInProgress>()
  return {
    /**
     * The current version of the data that a response depends on; null for a key without a cached response, so that a
     * first response does not wait for a version.
     */
    async version(key: string, network: Network, by: CacheSource): Promise<string | null> {
      if (!entries.has(key)) return null
      const { version, factsVersion } = await batches[network].version()
      return by === 'journal' ? version : `${version} ${factsVersion}`
    },
    /** The cached response that was made at a version of the data. */
    get({ key, version }: CacheQuery): CachedResponse | null {
      const entry = entries.get(key)
      return entry?.version === version ? entry : null
    },
    /**
     * The response that another request is making from the same version of the data, so that many requests of a key
     * after a change make one response.
     * @returns null if no such response is being made. The promise is null if the response must not be shared.
     */
    inProgress({ key, version, address }: CacheQuery): Promise<CachedResponse | null> | null {
      const other = responses.get(key)
      // a client must not wait for the other requests of a stranger
      const mayWait = other?.version === version && (other.waitsFor ?? address) === address
      return mayWait ? other.made : null
    },
    /**
     * Shares a response with the requests that arrive while it is made.
     * @param isInLine whether it waits for other requests of its client
     */
    share(
      { key, version, address }: CacheQuery,
      isInLine: boolean,
      making: Promise<CachedResponse>,
    ): void {
      const own: ResponseInProgress = {
        version,
        waitsFor: isInLine ? address : null,
        made: making.then(
          (response) => (response.answer.isTransient ? null : response),
          () => null,
        ),
      }
      responses.set(key, own)
      void own.made.then(() => {
        if (responses.get(key) === own) responses.delete(key)
      })
    },
    /** Stores a response that was made after its version was read. */
    set(key: string, version: string | null, made: CachedResponse): void {
      if (made.answer.isTransient || made.message.bytes > MAX_BYTES) entries.delete(key)
      else entries.set(key, { ...made, version })
    },
  }
}
