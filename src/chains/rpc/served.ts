import { LRUCache } from 'lru-cache'

/** Caches an answer for `forMs`. Failures are not cached. */
export function cacheAnswerForDuration<T>(forMs: number, ask: () => Promise<T>): () => Promise<T> {
  return cacheAnswersByKey(ask, { forMs: () => forMs, most: 1 })
}

interface AnswerCacheOptions<T, A extends readonly unknown[] = []> {
  /** How long an answer is cached, ms. */
  forMs: (answer: T) => number
  /** Maximum number of cached answers. A further answer replaces the least recently used one. */
  most: number
  /** Cache key of a call. Default: all arguments, joined. */
  keyOf?: (...of: A) => string
}

/** Caches answers by key. Concurrent calls with the same key share one request. Failures are not cached. */
export function cacheAnswersByKey<A extends readonly unknown[], T>(
  ask: (...of: A) => Promise<T>,
  { forMs, most, keyOf = (...of) => of.join(' ') }: AnswerCacheOptions<T, A>,
): (...of: A) => Promise<T> {
  const known = new LRUCache<string, { answer: T }, { of: A }>({
    maxSize: most,
    sizeCalculation: () => 1,
    ttl: 1,
    ttlResolution: 0,
    ignoreFetchAbort: true,
    async fetchMethod(_key, _stale, { options, context }) {
      const answer = await ask(...context.of)
      options.ttl = forMs(answer)
      return { answer }
    },
  })
  return async (...of) => (await known.forceFetch(keyOf(...of), { context: { of } })).answer
}
