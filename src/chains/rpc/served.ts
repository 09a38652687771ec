import { LRUCache } from 'lru-cache'

/** Serves an answer for some time before it is asked for again; a failure is not kept. */
export function servedFor<T>(forMs: number, ask: () => Promise<T>): () => Promise<T> {
  return servedByKey(ask, { forMs: () => forMs, most: 1 })
}

export interface ServedOptions<T, A extends readonly unknown[] = []> {
  /** Time for which an answer is served, ms. */
  forMs: (answer: T) => number
  /** Answers that are kept; the oldest makes room. */
  most: number
  /** Questions of one key have one answer; default: all that is asked of. */
  keyOf?: (...of: A) => string
}

/** Questions under way are shared; a failure is not kept. */
export function servedByKey<A extends readonly unknown[], T>(
  ask: (...of: A) => Promise<T>,
  { forMs, most, keyOf = (...of) => of.join(' ') }: ServedOptions<T, A>,
): (...of: A) => Promise<T> {
  const known = new LRUCache<string, { answer: T }, { of: A }>({
    max: most,
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
