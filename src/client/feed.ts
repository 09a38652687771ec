import { ClusterdError, errorOf } from './error.js'
import { readEvents } from './sse.js'
import { pause } from './time.js'
import type { Transport } from './transport.js'
import type { Answer, FeedEvent } from './types.js'

export interface EventsOptions {
  /** `resume` of the last event that was taken; default: the first event of all. */
  resume?: string | undefined
  /** Only events of this actor. */
  from?: string | undefined
  /** Ends the iteration. */
  signal?: AbortSignal | undefined
  /** Events asked for at once; default 500. */
  limit?: number | undefined
  /** Goes on at the end of the feed, and after outages; false: ends there, and throws those. Default true. */
  follow?: boolean | undefined
}

/** An event with the place behind it. */
export type ResumableEvent = FeedEvent & { resume: string }

/** Pauses after a stream, and after failures. */
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 10_000
/** Silence, without a heartbeat, after which a stream counts as broken. */
const SILENCE_MS = 60_000

/** Tokens name the ends of pages; `token+3` is the place behind three more events. */
const placeOf = (resume: string | undefined): { token: string | undefined; skipped: number } => {
  const [token, skipped] = (resume ?? '').split('+')
  return { token: token || undefined, skipped: Number(skipped ?? 0) }
}

/**
 * Events from a place on, exactly once and in their order, for ever: pages up to the end, then the stream, and again
 * after a failure.
 * @throws ClusterdError feed_restarted where a new generation began; what else a request is refused for
 */
export async function* followFeed(
  transport: Transport,
  { resume, from, signal, limit, follow = true }: EventsOptions,
): AsyncGenerator<ResumableEvent, void, undefined> {
  let { token, skipped } = placeOf(resume)
  let pauseMs = MIN_PAUSE_MS
  while (!signal?.aborted) {
    try {
      const query = { nextPage: token, from, limit }
      const page = (await transport.call('GET', '/v1/events', { query, signal })) as Answer<'GET', '/v1/events'>
      for (const [i, event] of page.items.entries()) {
        if (i < skipped) continue
        const isLast = i === page.items.length - 1
        yield { ...event, resume: isLast ? page.resume : `${token ?? ''}+${i + 1}` }
        if (signal?.aborted) return
        pauseMs = MIN_PAUSE_MS
      }
      skipped = Math.max(0, skipped - page.items.length)
      token = page.resume
      if (page.nextPage !== undefined) continue
      if (!follow) return
      for await (const event of streamed(transport, { token, from }, signal)) {
        token = event.resume
        yield event
        if (signal?.aborted) return
        pauseMs = MIN_PAUSE_MS
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof ClusterdError) || !follow) throw error
      if (!error.isTransient && error.code !== 'timeout') throw error
      pauseMs = Math.min(Math.max(pauseMs, error.retryAfterMs ?? 0), SILENCE_MS)
    }
    await pause(pauseMs, signal).catch(() => {})
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
  }
}

/** Events of one connection, until it ends or falls silent. */
async function* streamed(
  transport: Transport,
  { token, from }: { token: string; from: string | undefined },
  outer: AbortSignal | undefined,
): AsyncGenerator<ResumableEvent, void, undefined> {
  // no AbortSignal.any: what nobody else holds may be collected before it fires
  const stop = new AbortController()
  const end = () => stop.abort(outer?.reason)
  outer?.addEventListener('abort', end)
  let timer = setTimeout(() => {}, 0)
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(() => stop.abort(new ClusterdError('network', 'The stream fell silent.')), SILENCE_MS)
  }
  heard()
  const { signal } = stop
  try {
    const response = await transport.open('GET', '/v1/events/stream', { query: { resume: token, from }, signal })
    if (!response.ok || !response.body) throw errorOf(response, await response.json().catch(() => null))
    for await (const { id, event, data } of readEvents(response.body, heard, signal)) {
      // the end of a generation: the next page says so
      if (event !== 'message') return
      if (id === '') throw new ClusterdError('unexpected', 'An event of the stream has no place.')
      yield { ...JSON.parse(data), resume: id }
    }
  } catch (error) {
    if (error instanceof ClusterdError) throw error
    throw new ClusterdError('network', 'The stream broke off.', { status: 0, cause: error })
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', end)
  }
}
