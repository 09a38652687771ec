import type pg from 'pg'
import { isInternalError } from '../ops/log/errors.js'
import type { Network } from '../registry/primitives/network.js'
import type { ChangeNotifications } from './changeNotifications.js'
import { readSerializedEvents, type SerializedEvent } from './feedReader.js'

const ENTRIES_AT_ONCE = 256
/** Interval at which new events are read without a notification, in case one was lost, ms. */
const POLL_EVERY_MS = 5_000

/** A stream that has sent all events of the feed so far, and waits for new ones. */
export interface FeedFollower {
  /** Receives the next events, in order. Some of them may have been received before. */
  take(events: readonly SerializedEvent[]): void
  /** Called when the feed has restarted (a rewind, or a restored database). The follower then gets no more events. */
  restart(): void
}

interface TailOptions {
  pool: pg.Pool
  network: Network
  news: ChangeNotifications
  /** Receives errors of our own code. */
  onOwnError?: ((error: unknown) => void) | undefined
}

/** Reads the newest events for all streams at the end of the feed, so that each event is read and serialized once. */
export class FeedTailReader {
  readonly #options: TailOptions
  readonly #followers = new Set<FeedFollower>()
  /** Position of the next read; null while there is no follower. */
  #place: { generation: number; next: number } | null = null
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> | null = null
  #wasNotified = false

  constructor(options: TailOptions) {
    this.#options = options
    options.news.on(options.network, () => void this.readNew())
  }

  /**
   * Passes the events from number `from` on to a follower.
   * @returns function that unsubscribes the follower; null where event `from` was read already, or the feed has another
   * generation
   */
  follow(generation: number, from: number, follower: FeedFollower): (() => void) | null {
    this.#place ??= { generation, next: from }
    if (this.#place.generation !== generation || from < this.#place.next) return null
    this.#followers.add(follower)
    this.#timer ??= setInterval(() => void this.readNew(), POLL_EVERY_MS).unref()
    // an event may have been added after the caller's read, before this follower could be notified
    void this.readNew()
    return () => this.#leave(follower)
  }

  /** Reads new events, and passes them to the followers. */
  readNew(): Promise<void> {
    this.#wasNotified = true
    if (!this.#place) return Promise.resolve()
    this.#reading ??= this.#readAll()
    return this.#reading
  }

  #leave(follower: FeedFollower): void {
    this.#followers.delete(follower)
    if (this.#followers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#place = null
  }

  async #readAll(): Promise<void> {
    while (this.#wasNotified && this.#place) {
      this.#wasNotified = false
      try {
        await this.#read(this.#place)
      } catch (error) {
        // nothing is lost while the database is unavailable: the next read finds the missed events
        if (isInternalError(error)) this.#options.onOwnError?.(error)
      }
    }
    // cleared in the same tick as the last check, so a later notification starts a new read
    this.#reading = null
  }

  async #read(place: { generation: number; next: number }): Promise<void> {
    const { pool, network } = this.#options
    const found = await readSerializedEvents(pool, network, {
      first: place.next,
      limit: ENTRIES_AT_ONCE,
    })
    if (this.#place !== place) return
    if (!found || found.generation !== place.generation || found.newest < place.next - 1)
      return this.#restart()
    const { events } = found
    const last = events.at(-1)
    if (!last) return
    place.next = last.number + 1
    if (last.number < found.newest) this.#wasNotified = true
    for (const follower of [...this.#followers]) follower.take(events)
  }

  #restart(): void {
    const followers = [...this.#followers]
    for (const follower of followers) this.#leave(follower)
    for (const follower of followers) follower.restart()
  }
}
