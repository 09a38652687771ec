import type { TxProgress } from '../db/journal/transactions.js'
import { isOwnError, orIf } from '../ops/log/errors.js'
import { createNotify, type Notify } from '../ops/notify.js'
import type { Network } from '../registry/primitives/network.js'
import type { News } from './news.js'
import { Slots } from './slots.js'

/** Waits of a process on a network: those of one address, and all. With the streams they leave sockets to others. */
export const MAX_WAITS = { perClient: 500, total: 2_000 }
/** Time after which a transaction that is in no table is asked for on the chains again, which tell nobody. */
const ASK_AGAIN_MS = 5_000
/** Longer than any request stays. */
const LONGEST_MS = 60_000

/** Requests that wait until a transaction moves: the journal's news have each look at its own again, in batches. */
export class Waits {
  readonly places: Slots
  /** State of a transaction in the tables now. To be asked before its status, so no change falls between. */
  readonly progressOf: (tx: Buffer) => Promise<TxProgress>
  readonly #waiting = new Set<Notify>()
  #hasEnded = false

  /** @param isLimited whether one address may have so many only */
  constructor(
    network: Network,
    news: News,
    progressOf: (tx: Buffer) => Promise<TxProgress>,
    isLimited: boolean,
  ) {
    this.places = new Slots({ ...MAX_WAITS, ...(!isLimited && { perClient: MAX_WAITS.total }) })
    this.progressOf = progressOf
    news.on(network, () => this.#wake())
  }

  /** @returns false where the signal ended the wait, or all of them ended */
  async moved(tx: Buffer, { records, isKnown }: TxProgress, signal: AbortSignal): Promise<boolean> {
    const untilMs = performance.now() + (isKnown ? LONGEST_MS : ASK_AGAIN_MS)
    const notify = createNotify()
    this.#waiting.add(notify)
    try {
      while (!this.#hasEnded && !signal.aborted) {
        // while the database is away, the news of its return look again
        const now = await orIf(this.progressOf(tx), (error) => !isOwnError(error), null)
        if ((now && now.records !== records) || performance.now() >= untilMs) return true
        await notify.wait(untilMs - performance.now(), signal)
      }
      return false
    } finally {
      this.#waiting.delete(notify)
    }
  }

  /** Ends all waits, and those that would begin. */
  end(): void {
    this.#hasEnded = true
    this.#wake()
  }

  #wake(): void {
    for (const { notify } of this.#waiting) notify()
  }
}
