import type { TxProgress } from '../db/journal/transactions.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import type { News } from './news.js'
import { Places } from './places.js'

/** Waits of a process on a network: those of one address, and all. With the streams they leave sockets to others. */
export const MAX_WAITS = { perClient: 500, total: 2_000 }
/** Time after which a transaction that is in no table is asked for on the chains again, which tell nobody. */
const ASK_AGAIN_MS = 5_000

/** A transaction that somebody waits for, and what the tables had of it. */
interface Watched {
  tx: Buffer
  records: string
  waiting: Set<() => void>
}

/**
 * Requests that wait until a transaction moves. What wakes them is the journal's news; then one question about all that
 * are waited for tells which of them have moved.
 */
export class Waits {
  readonly places: Places
  readonly #progressOf: (tx: Buffer) => Promise<TxProgress>
  readonly #watched = new Map<string, Watched>()
  readonly #all = new Set<() => void>()
  #isLooking = false
  #isTold = false
  #hasEnded = false

  /** @param isLimited whether one address may have so many only */
  constructor(network: Network, news: News, progressOf: (tx: Buffer) => Promise<TxProgress>, isLimited: boolean) {
    this.places = new Places({ ...MAX_WAITS, ...(!isLimited && { perClient: MAX_WAITS.total }) })
    this.#progressOf = progressOf
    news.on(network, () => void this.#look())
  }

  /** What the tables have of a transaction now. To be asked before its status, so that no change falls between. */
  progressOf(tx: Buffer): Promise<TxProgress> {
    return this.#progressOf(tx)
  }

  /** Waits until a transaction may have moved. @returns false where the signal ended the wait, or all of them ended */
  async moved(tx: Buffer, since: TxProgress, signal: AbortSignal): Promise<boolean> {
    if (this.#hasEnded || signal.aborted) return false
    const waiting = this.#wait(tx, since, signal)
    // what changed before it waited told nobody who waits
    this.#progressOf(tx).then(
      (now) => now.records !== since.records && this.#wake(toHex(tx)),
      () => {},
    )
    return waiting
  }

  /** Ends all waits, and those that would begin. */
  end(): void {
    this.#hasEnded = true
    for (const leave of [...this.#all]) leave()
  }

  #wait(tx: Buffer, { records, isKnown }: TxProgress, signal: AbortSignal): Promise<boolean> {
    const key = toHex(tx)
    const watched = this.#watched.get(key) ?? { tx, records, waiting: new Set() }
    this.#watched.set(key, watched)
    return new Promise((resolve) => {
      const end = (hasMoved: boolean) => () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
        watched.waiting.delete(wake)
        this.#all.delete(leave)
        if (watched.waiting.size === 0 && this.#watched.get(key) === watched) this.#watched.delete(key)
        resolve(hasMoved)
      }
      const wake = end(true)
      const leave = end(false)
      const timer = isKnown ? undefined : setTimeout(wake, ASK_AGAIN_MS)
      signal.addEventListener('abort', leave)
      watched.waiting.add(wake)
      this.#all.add(leave)
    })
  }

  #wake(key: string): void {
    const watched = this.#watched.get(key)
    if (!watched) return
    this.#watched.delete(key)
    for (const wake of [...watched.waiting]) wake()
  }

  /** Looks at all that are waited for; news that come meanwhile make it look once more. */
  async #look(): Promise<void> {
    this.#isTold = true
    if (this.#isLooking) return
    this.#isLooking = true
    while (this.#isTold) {
      this.#isTold = false
      await Promise.all([...this.#watched].map(([key, watched]) => this.#compare(key, watched)))
    }
    this.#isLooking = false
  }

  async #compare(key: string, watched: Watched): Promise<void> {
    try {
      const { records } = await this.#progressOf(watched.tx)
      if (records !== watched.records && this.#watched.get(key) === watched) this.#wake(key)
    } catch {
      // the database is away: the news of its return, or the end of the wait, looks again
    }
  }
}
