import type { ServerResponse } from 'node:http'
import PQueue from 'p-queue'
import { CapacityLimiter, type CapacityLimits } from './capacityLimiter.js'

/** Maximum number of open streams of the feed: of one address, and of the process. */
export const MAX_FEED_STREAMS: CapacityLimits = { perClient: 50, total: 2_000 }
/** Interval of heartbeats on a stream, ms: half of the time after which a silent socket is closed. */
const HEARTBEAT_MS = 15_000
/** Time within which a client has to read what was written to its stream, ms. */
export const STREAM_DRAIN_TIMEOUT_MS = 30_000
/** Pause between two page reads for streams behind the feed, ms: at 100 events a page, 5,000 a second per process. */
const PAGE_EVERY_MS = 20

const HEARTBEAT = ':\n\n'

export class FeedStreams {
  readonly places: CapacityLimiter
  readonly #open = new Set<ServerResponse>()
  readonly #pages = new PQueue({ concurrency: 1, interval: PAGE_EVERY_MS, intervalCap: 1 })
  #hasEnded = false

  /** @param isLimited whether the number of streams of one address is limited */
  constructor(isLimited: boolean) {
    this.places = new CapacityLimiter({
      ...MAX_FEED_STREAMS,
      ...(!isLimited && { perClient: MAX_FEED_STREAMS.total }),
    })
  }

  /** Reads a page of events for a stream that is behind. Reads wait in a queue. A closed stream leaves the queue. */
  async page<T>(res: ServerResponse, read: () => Promise<T>): Promise<T> {
    const gone = new AbortController()
    const leave = () => gone.abort()
    if (res.closed) leave()
    res.once('close', leave)
    try {
      return await this.#pages.add(read, { signal: gone.signal })
    } finally {
      res.off('close', leave)
    }
  }

  /** Keeps a stream alive until it is closed. @returns false where all streams have been ended */
  open(res: ServerResponse): boolean {
    if (this.#hasEnded) return false
    this.#open.add(res)
    const beat = () => !res.writableNeedDrain && !res.writableEnded && res.write(HEARTBEAT)
    const timer = setInterval(beat, HEARTBEAT_MS).unref()
    res.once('close', () => {
      this.#open.delete(res)
      clearInterval(timer)
    })
    return true
  }

  /** Ends all streams. Streams that begin later end at once. Clients can continue after the last event id they got. */
  end(): void {
    this.#hasEnded = true
    for (const res of this.#open) res.end()
  }
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
