import { pauseMsAfterOutage } from './error.js'
import { readServerSentEvents, STREAM_SILENCE_TIMEOUT_MS } from './sse.js'
import { pause, withTimeLimit } from './time.js'
import type { Transport } from './transport.js'
import type { Answer, FeedEvent } from './types.js'

export interface EventsOptions {
  /** `resume` of the last event that was processed; default: begin with the first event. */
  resume?: string | undefined
  /** Address of the actor whose events are read. */
  from?: string | undefined
  /** Ends the iteration. */
  signal?: AbortSignal | undefined
  /** Events per request; default 500. */
  limit?: number | undefined
  /** False: the iteration ends at the end of the feed, and throws at outages; default true. */
  follow?: boolean | undefined
}

/** An event of the feed, with the token (`resume`) to continue reading after it. */
export type ResumableEvent = FeedEvent & { resume: string }

/**
 * Shortest pause after the end of a stream or a failed request. Each further pause is twice as long, up to the longest.
 */
const MIN_PAUSE_MS = 250
/** Longest pause after the end of a stream or a failed request. */
const MAX_PAUSE_MS = 10_000

/**
 * Reads events from a position on: pages up to the feed's end, then the stream of new events. After a failure the
 * reading starts again with pages.
 * @throws ClusterdError feed_restarted for a new generation, errors of refused requests, without `follow` also outages
 * @internal
 */
export async function* followFeed(
  transport: Transport,
  { resume, from, signal, limit, follow = true }: EventsOptions,
): AsyncGenerator<ResumableEvent, void, undefined> {
  // tokens mark the ends of pages; `token+3` is the position three events later
  let [token = '', more = '0'] = (resume ?? '').split('+')
  let skipped = Number(more)
  let pauseMs = MIN_PAUSE_MS
  while (!signal?.aborted) {
    try {
      const query = { nextPage: token || undefined, from, limit }
      const page = (await transport.call('GET', '/v1/events', { query, signal })) as Answer<
        'GET',
        '/v1/events'
      >
      for (const [i, event] of page.items.entries()) {
        if (i < skipped) continue
        const isLast = i === page.items.length - 1
        yield { ...event, resume: isLast ? page.resume : `${token}+${i + 1}` }
        if (signal?.aborted) return
        pauseMs = MIN_PAUSE_MS
      }
      skipped = Math.max(0, skipped - page.items.length)
      token = page.resume
      if (page.nextPage !== undefined) continue
      if (!follow) return
      // React Native has no streams. There, the next page is requested after a pause
      if (transport.hasStreams) {
        const stream = {
          query: { resume: token, from },
          timeoutMs: STREAM_SILENCE_TIMEOUT_MS,
          signal,
        }
        const { body } = await withTimeLimit(stream, (limit) =>
          transport.open('GET', '/v1/events/stream', { ...stream, signal: limit }),
        )
        const openedMs = performance.now()
        for await (const { id, event, data } of readServerSentEvents(body!, signal)) {
          // an event of another type means that the generation has ended. The next page then throws feed_restarted
          if (event !== 'message') break
          token = id
          yield { ...JSON.parse(data), resume: id }
          if (signal?.aborted) return
          pauseMs = MIN_PAUSE_MS
        }
        // services end streams after a few minutes, so the end of a stream without events is no failure
        if (performance.now() - openedMs > MAX_PAUSE_MS) pauseMs = MIN_PAUSE_MS
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!follow) throw error
      pauseMs = Math.max(pauseMs, pauseMsAfterOutage(error))
    }
    await pause(pauseMs, signal).catch(() => {})
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
  }
}
