import type { TxProgress } from '../db/journal/transactions.js'
import { fallbackOnExpectedError, isInternalError } from '../ops/log/errors.js'
import { createWakeUp, type WakeUp } from '../ops/notify.js'
import type { Network } from '../registry/primitives/network.js'
import { CapacityLimiter } from './capacityLimiter.js'
import type { ChangeNotifications } from './changeNotifications.js'

/**
 * Maximum number of long polls on a network: of one address, and of the process. Together with the streams they leave
 * sockets for other requests.
 */
export const MAX_LONG_POLLS = { perClient: 500, total: 2_000 }
/** Interval at which a transaction in no table is looked up on the chains again, ms. Chains send no notification. */
const ASK_AGAIN_MS = 5_000
/** Time after which a wait ends in any case, ms. It is longer than any long poll. */
const LONGEST_MS = 60_000

/**
 * Requests that wait for a change of a transaction's status (long polls). Each change of the network's journal makes
 * them read their transactions again, in batches.
 */
export class LongPolls {
  readonly places: CapacityLimiter
  /**
   * Reads which changes of a transaction the database has stored. Call it before the transaction's status is computed,
   * so that no change between the two is missed.
   */
  readonly progressOf: (tx: Buffer) => Promise<TxProgress>
  readonly #waiting = new Set<WakeUp>()
  #hasEnded = false

  /** @param isLimited whether the number of long polls of one address is limited */
  constructor(
    network: Network,
    news: ChangeNotifications,
    progressOf: (tx: Buffer) => Promise<TxProgress>,
    isLimited: boolean,
  ) {
    this.places = new CapacityLimiter({
      ...MAX_LONG_POLLS,
      ...(!isLimited && { perClient: MAX_LONG_POLLS.total }),
    })
    this.progressOf = progressOf
    news.on(network, () => this.#wake())
  }

  /** Waits until the stored data of a transaction changes. @returns false where the signal or `end` ended the wait */
  async untilChanged(
    tx: Buffer,
    { records, isKnown }: TxProgress,
    signal: AbortSignal,
  ): Promise<boolean> {
    const untilMs = performance.now() + (isKnown ? LONGEST_MS : ASK_AGAIN_MS)
    const notify = createWakeUp()
    this.#waiting.add(notify)
    try {
      while (!this.#hasEnded && !signal.aborted) {
        // while the database is unavailable, wait for the notification of its return
        const now = await fallbackOnExpectedError(
          this.progressOf(tx),
          (error) => !isInternalError(error),
          null,
        )
        if ((now && now.records !== records) || performance.now() >= untilMs) return true
        await notify.wait(untilMs - performance.now(), signal)
      }
      return false
    } finally {
      this.#waiting.delete(notify)
    }
  }

  /** Ends all waits. Waits that begin later end at once. */
  end(): void {
    this.#hasEnded = true
    this.#wake()
  }

  #wake(): void {
    for (const { notify } of this.#waiting) notify()
  }
}
