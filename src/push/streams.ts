import type { ServerResponse } from 'node:http'
import { FairQueue } from '../ops/fairQueue.js'
import { MAX_FEED_STREAMS } from './longRequests.js'

/** Interval of heartbeats on a stream, ms: half of the time after which a silent socket is closed. */
const HEARTBEAT_INTERVAL_MS = 15_000
/**
 * Maximum duration of a stream, ms: Cloud Run's default limit of a response, which is the shortest of the usual limits.
 * Streams end at random times in the last fifth of the duration, so that streams that were opened together do not end
 * together.
 */
export const MAX_STREAM_MS = 300_000
/** Time within which a client has to read what was written to its stream, ms. */
export const STREAM_DRAIN_TIMEOUT_MS = 30_000
/**
 * Minimum time between the starts of two page reads, ms, of all streams of a process that are behind the feed. With 100
 * events a page, the process reads at most 5,000 events a second.
 */
export const PAGE_READ_INTERVAL_MS = 20

/** An empty comment, which clients of Server-Sent Events ignore. */
const HEARTBEAT_COMMENT = ':\n\n'

/** Creates the queue in which streams behind the feed read their pages, one page each. Addresses take turns. */
export const createPageReadQueue = (): FairQueue =>
  new FairQueue({ atOnce: 1, waiting: MAX_FEED_STREAMS.total })

/** Sends heartbeats on a stream until `stop` fires. Aborts `stop` after `MAX_STREAM_MS` at the latest. */
export function sendHeartbeats(res: ServerResponse, stop: AbortController): void {
  if (stop.signal.aborted) return
  const beat = () => !res.writableNeedDrain && !res.writableEnded && res.write(HEARTBEAT_COMMENT)
  const beats = setInterval(beat, HEARTBEAT_INTERVAL_MS).unref()
  const lifetimeMs = MAX_STREAM_MS * (1 - Math.random() / 5)
  const end = setTimeout(() => stop.abort(), lifetimeMs).unref()
  const clear = () => {
    clearInterval(beats)
    clearTimeout(end)
  }
  stop.signal.addEventListener('abort', clear, { once: true })
}

/**
 * Waits until the client has read what was written to its stream.
 * @returns false where the stream is closed, or was closed because the client is too slow
 */
export function waitForDrain(res: ServerResponse): Promise<boolean> {
  if (res.destroyed || res.writableEnded) return Promise.resolve(false)
  if (!res.writableNeedDrain) return Promise.resolve(true)
  return new Promise((resolve) => {
    const end = (isRead: boolean) => {
      clearTimeout(timer)
      res.off('drain', onDrain)
      res.off('close', onClose)
      resolve(isRead)
    }
    const onDrain = () => end(true)
    const onClose = () => end(false)
    const timer = setTimeout(() => res.destroy(), STREAM_DRAIN_TIMEOUT_MS)
    res.once('drain', onDrain)
    res.once('close', onClose)
  })
}
