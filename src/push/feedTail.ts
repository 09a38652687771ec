import type pg from 'pg'
import type { Network } from '../registry/primitives/network.js'
import type { ChangeNotifications } from './changeNotifications.js'
import { readSerializedEvents, type SerializedEvent } from './feedReader.js'

const MAX_ENTRIES_PER_READ = 256

/** Consecutive events, or `restarted` if the feed has restarted (a rewind, or a restored database). */
type TailResult = readonly SerializedEvent[] | 'restarted'
/** Functions that end the waits of the streams at one position, each with the result of the read. */
type WaitEnds = Set<(result: TailResult | null) => void>

interface FeedTailOptions {
  pool: pg.Pool
  notifications: ChangeNotifications
  /** Receives errors of our own code, with the network. */
  onInternalError?: ((error: unknown, about: object) => void) | undefined
}

/**
 * Waits for the next events of the networks' feeds. Streams at the same position share the wait, so that each event is
 * read and serialized once.
 */
export class FeedTail {
  readonly #options: FeedTailOptions
  readonly #streams = new Map<string, WaitEnds>()

  constructor(options: FeedTailOptions) {
    this.#options = options
  }

  /**
   * Waits for events of a network from number `from` on.
   * @param from number of the first event of a journal entry, which may not exist yet
   * @returns null where the signal fires, where all waits have been ended, and after an error of our own code
   */
  async next(
    network: Network,
    generation: number,
    from: number,
    signal: AbortSignal,
  ): Promise<TailResult | null> {
    if (signal.aborted) return null
    const position = `${network}-${generation}-${from}`
    const others = this.#streams.get(position)
    const streams: WaitEnds = others ?? new Set()
    const answer = new Promise<TailResult | null>((resolve) => {
      const leave = () => end(null)
      const end = (result: TailResult | null) => {
        streams.delete(end)
        signal.removeEventListener('abort', leave)
        resolve(result)
      }
      streams.add(end)
      signal.addEventListener('abort', leave)
    })
    if (!others)
      void this.#wait(network, position, streams, () => this.#read(network, generation, from))
    return answer
  }

  async #wait(
    network: Network,
    position: string,
    streams: WaitEnds,
    read: () => Promise<TailResult | null>,
  ): Promise<void> {
    const { notifications, onInternalError } = this.#options
    this.#streams.set(position, streams)
    const readForStreams = async () => {
      if (streams.size > 0) return read()
      // deleted here, before the wait ends, so that a stream that comes meanwhile starts a new wait
      this.#streams.delete(position)
      return 'nobody waits' as const
    }
    const result = await notifications.waitFor(network, readForStreams).catch((error: unknown) => {
      onInternalError?.(error, { network })
      return null
    })
    if (result === 'nobody waits') return
    this.#streams.delete(position)
    for (const end of streams) end(result)
  }

  async #read(network: Network, generation: number, from: number): Promise<TailResult | null> {
    const { pool } = this.#options
    const page = await readSerializedEvents(pool, network, {
      first: from,
      limit: MAX_ENTRIES_PER_READ,
    })
    if (!page || page.generation !== generation || page.newest < from - 1) return 'restarted'
    return page.events.length > 0 ? page.events : null
  }
}
