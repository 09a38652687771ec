import type { ServerResponse } from 'node:http'
import PQueue from 'p-queue'

/** Interval of heartbeats on a stream, ms: half of the time after which a silent socket is closed. */
const HEARTBEAT_MS = 15_000
/**
 * Longest time after which a stream ends automatically, ms: the limit of a whole response in Cloud Run, the shortest of the
 * usual ones. Streams that were opened together end over the last fifth of it.
 */
export const MAX_STREAM_MS = 300_000
/** Time within which a client has to read what was written to its stream, ms. */
export const STREAM_DRAIN_TIMEOUT_MS = 30_000
/** Pause between two page reads for streams behind the feed, ms: at 100 events a page, 5,000 a second per process. */
const PAGE_EVERY_MS = 20

const HEARTBEAT = ':\n\n'

/** Creates the queue in which streams behind the feed read their pages. */
export const createPageQueue = (): PQueue =>
  new PQueue({ concurrency: 1, interval: PAGE_EVERY_MS, intervalCap: 1 })

/** Sends heartbeats on a stream until its signal fires, which is after the longest time of a stream at the latest. */
export function keepAlive(res: ServerResponse, stop: AbortController): void {
  if (stop.signal.aborted) return
  const beat = () => !res.writableNeedDrain && !res.writableEnded && res.write(HEARTBEAT)
  const beats = setInterval(beat, HEARTBEAT_MS).unref()
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
