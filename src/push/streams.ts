import type { ServerResponse } from 'node:http'
import PQueue from 'p-queue'
import { type SlotBounds, Slots } from './slots.js'

/** Streams of a process: those of one address, and all. */
export const MAX_STREAMS: SlotBounds = { perClient: 50, total: 2_000 }
/** Time between two signs of life of a stream: half of what closes a silent socket. */
const HEARTBEAT_MS = 15_000
/** Time within which what was written has to be read. */
export const DRAIN_MS = 30_000
/** Time between two pages that are read for streams which are behind: 5,000 events a second of a process. */
const PAGE_EVERY_MS = 20

const HEARTBEAT = ':\n\n'

export class Streams {
  readonly places: Slots
  readonly #open = new Set<ServerResponse>()
  readonly #pages = new PQueue({ concurrency: 1, interval: PAGE_EVERY_MS, intervalCap: 1 })
  #hasEnded = false

  /** @param isLimited whether one address may have so many only */
  constructor(isLimited: boolean) {
    this.places = new Slots({ ...MAX_STREAMS, ...(!isLimited && { perClient: MAX_STREAMS.total }) })
  }

  /** Reads a page for a stream that is behind, in its turn; one that is closed meanwhile gives its turn up. */
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

  /** Keeps a stream alive until it is closed. @returns false where all streams have ended */
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

  /** Ends all streams, and those that would begin. Their last ids lead on. */
  end(): void {
    this.#hasEnded = true
    for (const res of this.#open) res.end()
  }
}

/** @returns false where the stream is closed, or is closed for its slowness */
export function drained(res: ServerResponse): Promise<boolean> {
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
    const timer = setTimeout(() => res.destroy(), DRAIN_MS)
    res.once('drain', onDrain)
    res.once('close', onClose)
  })
}
